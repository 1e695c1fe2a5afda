"""What a turn says of its speaker: its topic, whether it lasts, and what says nothing. Rules over words, no model."""

from __future__ import annotations

import re
from dataclasses import dataclass

_READ_CHARS = 2000
_SENTENCE = re.compile(r"[^.!?;\n。！？…]+[.!?;。！？…]*")
_SELF = re.compile(
    r"\b(?:I|I['’](?:m|ve|d|ll))\b|\b(?i:my|mine|we|our|im|ive"
    r"|ich|mein(?:e[mnrs]?)?|mir|mich|wir|unser(?:e[mnrs]?)?"
    r"|je|mon|ma|mes|nous|notre|nos"
    r"|yo|mi|mis|me|nuestr[oa]s?|soy|estoy|tengo|vivo|trabajo|estudio|prefiero|odio|nací"
    r"|io|mio|mia|miei|mie|sono|ho|abito|lavoro|preferisco|studio"
    r"|eu|meu|minha|meus|minhas|sou|estou|tenho|moro|trabalho|prefiro|gosto|nasci)\b"
    r"|\b[jJmM]['’](?=\w)|我|私|僕|俺|わたし|うち(?:の|は)"
)
"""The first person, and its verbs in languages that leave out the pronoun."""
_LASTING = re.compile(
    r"\b(?:am|['’]m|is|are|have|['’]ve|has|lives?|works?|study|studies|like|love|enjoy|hate|prefer|need|can['’]?t|cannot"
    r"|never|always"
    r"|usually|every|own|speak|play|teach|eat|drink|don['’]t"
    r"|bin|ist|sind|habe|hat|wohne|lebe|arbeite|studiere|mag|liebe|hasse|esse|trinke|spreche|immer|nie"
    r"|suis|est|ai|habite|vis|travaille|étudie|aime|adore|déteste|préfère|mange|parle|toujours|jamais"
    r"|soy|es|tengo|vivo|trabajo|estudio|gusta|encanta|odio|prefiero|como|hablo|siempre|nunca"
    r"|sono|ho|vivo|abito|lavoro|studio|piace|amo|odio|preferisco|mangio|parlo|sempre|mai"
    r"|sou|tenho|moro|vivo|trabalho|estudo|gosto|adoro|odeio|prefiro|falo|sempre|nunca)\b"
    r"|是|有|住|喜欢|讨厌|不能|です|ます|ている|好き|嫌い",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"\b(?:I(?:['’]d| would) (?:like|love|appreciate) (?:some|an?|the|your?|to (?:know|hear|see|get|ask))"
    r"|please|(?:can|could|would|will) you|(?:I|we) (?:want|need|(?:would|['’]d) like) you to"
    r"|(?:remind|tell|help|show|give|send|let|write|find|get) (?:me|us)\b|let['’]?s"
    r"|bitte|kannst du|könntest du|würdest du|(?:sag|zeig|hilf|gib|schick|erinner[en]?) (?:mir|mich)"
    r"|s['’]il (?:te|vous) pla[iî]t|peux-tu|pouvez-vous|pourrais-tu|(?:dis|aide|donne|montre|rappelle)-moi"
    r"|por favor|puedes|podrías|dime|ayúdame|muéstrame|recuérdame"
    r"|per favore|puoi|potresti|dimmi|aiutami|mostrami|ricordami"
    r"|você pode(?:ria)?|podes|poderias|(?:me|nos) (?:diga|ajude|mostre|lembre)|diga-me|ajude-me|lembre-me)\b"
    r"|请|帮我|麻烦你|能不能|ください|お願い|教えて|してくれ",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"\W*(?:add|book|buy|call|check|convert|create|draft|explain|find|generate|list|make|open|order|plan|read"
    r"|remember|remind"
    r"|rewrite|schedule|search|send|set|show|suggest|summari[sz]e|tell|translate|write)\s+(?!up\b)\w",
    re.IGNORECASE,
)
"""An English sentence that begins with the imperative of what assistants are asked to do."""
_JOKE = re.compile(
    r"\b(?:(?:just|only|i['’]?m|i am|was) (?:kidding|joking)|kidding|jk|lol|lmao|rofl|ha(?:ha)+|he(?:he)+"
    r"|joke|pun intended"
    r"|(?:nur )?(?:ein )?(?:scherz|spaß|witz)|hi(?:hi)+|je (?:plaisante|rigole|blague)|mdr|c['’]est une blague"
    r"|es broma|bromeo|era broma|ja(?:ja)+|scherzo|scherzavo|a(?:ha){2,}|brincadeira|brincando|k{3,}|(?:rs){2,})\b"
    r"|开玩笑|哈哈|冗談|[(（]笑[)）]|[😂🤣😜😝]",
    re.IGNORECASE,
)
_THANKS = re.compile(
    r"\b(?:thank(?:s| you)|thx|ty|cheers|(?:much |really )?appreciate|grateful|you['’]?re (?:the best|welcome|great)"
    r"|danke|vielen dank|dankbar|merci|reconnaissant|gracias|agradezco|grazie|ringrazio|obrigad[oa]|agradeço)\b"
    r"|谢谢|感谢|ありがとう|感謝",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"\W*(?:(?:oh|well|yes|no|yeah|ok(?:ay)?|hm+)\W+)*(?:I|we) (?:see|know|think so|agree|mean|guess|wonder|suppose"
    r"|don['’]?t know|do not know|understand|hope|bet|got it|have (?:a|one|another|some) questions?"
    r"|was (?:just )?wondering)\b"
    r"(?:\W+\w+){0,3}\W*",
    re.IGNORECASE,
)
"""Words of the first person that say nothing of the speaker."""
_TOPICS = {
    "person": r"\b(?:name(?:['’]s)? is|called|born|birthday|years old|pronouns|nationality|heiße|geboren"
    r"|geburtstag|jahre alt"
    r"|m['’]appelle|suis née?|anniversaire|ans|me llamo|nací|años|cumpleaños|mi chiamo|nat[oa]|anni|compleanno"
    r"|me chamo|nasci|anos|aniversário)\b|我叫|岁|生日|と申し|名前|歳|生まれ|誕生日",
    "health": r"\b(?:allerg\w*|vegan\w*|vegetari\w*|végétar\w*|intoleran\w*|diabet\w*|asthma\w*|medic\w*"
    r"|doctor|diet|gluten\w*"
    r"|eat|drink|esse|trinke|arzt|mange|médecin|como|médico|mangio|medico|celiac\w*|coeliac\w*|pregnan\w*|blood)\b"
    r"|过敏|吃|喝|医生|アレルギー|食べ|飲み|医者",
    "family": r"\b(?:wife|husband|partner|fiancée?|girlfriend|boyfriend|sons?|daughters?|child(?:ren)?|kids?"
    r"|mother|father|mum"
    r"|mom|dad|parents?|sisters?|brothers?|married|divorced|dogs?|cats?|pets?|frau|mann|kind(?:er)?|tochter"
    r"|sohn|mutter"
    r"|vater|schwester|bruder|hund|katze|femme|mari|fils|filles?|enfants?|mère|père|sœur|frère|chien|chat"
    r"|espos[oa]|marido"
    r"|hij[oa]s?|madre|padre|herman[oa]|perr[oa]|gat[oa]|moglie|marito|figli[oa]?|sorella|fratello|cane"
    r"|filh[oa]s?|mãe|pai"
    r"|irmã|irmão|cachorr[oa])\b|妻子|丈夫|儿子|女儿|孩子|妈妈|爸爸|狗|猫|妻|夫|息子|娘|子供|母|父|犬",
    "work": r"\b(?:work\w*|job|boss|compan\w+|employ\w+|stud(?:y|ies|ied|ying)|universit\w+|school|degree"
    r"|engineer|teacher|nurse"
    r"|developer|profession|career|arbeite\w*|beruf|firma|studiere|universität|schule|travaill\w+|métier"
    r"|études|étudi\w+"
    r"|trabaj\w+|empresa|estudi\w+|lavor\w+|azienda|studi[ao]|trabalh\w+|estud[oa])\b|工作|上班|公司|学习|大学|仕事|働|会社|勤",
    "home": r"\b(?:live[sd]?|living|(?:mov|relocat)(?:ed|ing)|home|house|flat|apartment|city|town|village|country"
    r"|neighbou?r\w*|wohne\w*|lebe"
    r"|gezogen|umgezogen|habit\w+|déménag\w+|vivo|mud\w+|casa|abit\w+|trasferit\w+|mor[oa]|mudei)\b|住|搬|家在|引っ越",
    "likes": r"\b(?:likes?|lov(?:e|ed|ing)|enjoy\w*|hat(?:e|ed)|prefer\w*|favou?rites?|hobb(?:y|ies)|fan of"
    r"|mag|liebe|lieber"
    r"|lieblings\w+|hasse|hobby|aime|adore|déteste|préf\w+|gusta\w*|encanta\w*|prefiero|odio|favorit\w+|piac\w+|amo"
    r"|preferisc\w+|gosto|adoro|odeio|prefiro)\b|喜欢|爱好|讨厌|好き|嫌い|趣味",
}
_TOPIC_FORMS = {topic: re.compile(form, re.IGNORECASE) for topic, form in _TOPICS.items()}
OTHER = "other"
TOPICS = (*_TOPICS, OTHER)
"""Topics of statements, in the order of a profile."""


@dataclass(frozen=True, slots=True)
class SelfStatement:
    """What a turn says of its speaker: its topic, and whether it tells of a state, not of an event."""

    topic: str
    lasting: bool


def self_statement(text: str) -> SelfStatement | None:
    """Return what a turn says of its speaker; None for requests, questions, jokes, thanks and what is of others.

    >>> self_statement("My sister lives in Graz.")
    SelfStatement(topic='family', lasting=True)
    >>> self_statement("Could you find me a train to Graz?"), self_statement("Thanks, that helped me!")
    (None, None)
    """
    text = text[:_READ_CHARS]
    if _JOKE.search(text):
        return None
    told = [clause for sentence in _SENTENCE.findall(text) if (clause := _clause_of(sentence)) is not None]
    if not told:
        return None
    said = " ".join(told)
    topic = next((topic for topic, form in _TOPIC_FORMS.items() if form.search(said)), OTHER)
    return SelfStatement(topic, any(_LASTING.search(clause) for clause in told))


def is_aside(text: str) -> bool:
    """Return whether a turn is a joke, or thanks and nothing of the speaker.

    >>> is_aside("Thanks, that was funny!"), is_aside("Thanks, I live in Graz now.")
    (True, False)
    """
    text = text[:_READ_CHARS]
    return _JOKE.search(text) is not None or (_THANKS.search(text) is not None and self_statement(text) is None)


def _clause_of(sentence: str) -> str | None:
    """Return what a sentence says of its speaker, without thanks before it; None if it says nothing."""
    if sentence.rstrip().endswith(("?", "？")) or _REQUEST.search(sentence) or _ORDER.match(sentence):
        return None
    if _THANKS.search(sentence):
        sentence = " ".join(part for part in re.split(r"[,，、:–—]", sentence) if not _THANKS.search(part))
        if not re.search(r"\bI\b|\bich\b|\bje\b|\byo\b|\bio\b|\beu\b|我|私", sentence):
            return None
    return sentence if _SELF.search(sentence) and not _EMPTY.fullmatch(sentence) else None
