"""Which words tell of something that happens, which of something that goes wrong, and which of nothing at all.

A cause joins two things that happen. Of clauses the verb tells; of nouns it is their ending (``-tion``, ``-ment``), or
they are among the common ones that have none.
"""

from __future__ import annotations

from collections.abc import Sequence

from vicw_shared.language.analysis import Word

_CONTENT = frozenset({"NOUN", "PROPN", "VERB", "ADJ", "NUM", "PRON", "SYM", "X"})
_NOUNS = frozenset({"NOUN", "VERB", "ADJ", "PROPN"})
"""Tags that nouns get, some by mistake."""
_ENDINGS = (
    "tion", "tions", "sion", "sions", "ment", "ments", "ance", "ances", "ence", "ences", "ness", "ism",
    "osis", "itis", "ysis", "ency", "ancy", "lity", "rity", "sity", "vity", "failure", "failures", "closure",
    "closures", "pressure", "exposure", "ning", "ting", "king", "wreck", "wrecks", "quake", "quakes",
    "downtime", "ache", "shortage", "shortages", "outage", "outages", "breakage", "leakage", "shutdown",
    "breakdown", "meltdown", "slowdown", "crackdown", "timeout", "timeouts", "blackout", "blackouts",
    "burnout", "layoff", "layoffs", "rollback", "setback", "setbacks", "overflow",
)  # fmt: skip
_NOT_EVENTS = frozenset(
    "station stations section sections apartment apartments basement basements monument monuments pavement "
    "document documents department departments settlement building buildings clearing landing parking university "
    "facility facilities location locations destination entrance fence residence junction intersection cement "
    "compartment tournament instrument element elements painting evidence audience wing ring king string thing "
    "things sentence sentences science".split()
)
_EVENTS = frozenset(
    "accident alarm anger arrest attack ban battle birth blast boycott break bug burn cancer change chaos clash "
    "collapse complaint conflict confusion corruption crash crime crisis damage danger deadlock death debt "
    "decline decrease defeat delay demise disaster disease doubt downfall drop drought effect end error escape "
    "explosion fall famine fault fear fever fight fine fire flood fog frost fraud fury gain growth harm hunger "
    "illness impasse increase injury jam killing lack landslide lapse leak loss mess misery mistake murder "
    "outbreak outcry pain panic peace pollution poverty praise problem profit protest quarrel rain rebellion "
    "recall relief restart result revolt riot rise row ruin rush sadness sanction scandal shock shortfall "
    "sickness siege spike split stop storm stress strike struggle success surge suspicion tension theft threat "
    "trial trouble unrest upheaval upset uproar uprising victory violence walkout war warning waste win "
    "withdrawal wreck wound deploy bankruptcy fatigue hack merge reset retry review revert sale start stall stop "
    "upgrade update boom bust death divorce marriage race".split()
)
_BACK = frozenset({"this", "that", "it", "which", "these", "those", "what"})
_WRONG = (
    "fail", "crash", "broke", "break", "timed", "timeout", "corrupt", "leak", "expire", "collaps", "fill",
    "error", "outage", "wrong", "miss", "delay", "slip", "slow", "stop", "refus", "reject", "problem",
    "incident", "trouble", "disrupt", "fault", "block", "stall", "overload", "exceed", "alarm", "flak",
    "accident", "damag", "destroy", "flood", "cancel", "unable", "unavail", "panic", "exception", "drop",
    "degrad", "shortage", "disaster", "crisis", "mistake", "spike", "throttl", "overheat", "complain",
)  # fmt: skip
"""How words begin that tell of something going wrong."""
_WRONG_ALONE = frozenset(
    "died dead full lost lose loses loss losses late stuck hung hangs hang down bug bugs issue issues stale red "
    "bad worse worst sick ill hurt killed fire oom mess".split()
)
_WITHOUT = frozenset({"not", "n't", "n’t", "no", "nobody", "none", "nothing", "never", "cannot", "without"})


def says_something(words: Sequence[Word]) -> bool:
    """Tell whether words name or tell anything: an article, an adverb or a mark alone do not."""
    return any(word.tag in _CONTENT and any(ch.isalnum() for ch in word.text) for word in words)


def happens(words: Sequence[Word]) -> bool:
    """Tell whether words are a clause, or a phrase that names something that happens or how something is."""
    if len(words) == 1 and words[0].lower in _BACK:
        return True
    return any(
        (word.tag in {"VERB", "AUX"} and (place > 0 or word.lower.endswith("ing")))
        or (word.tag in _NOUNS and names_event(word.lower) and not _goes_on(words[place + 1 : place + 2]))
        for place, word in enumerate(words)
    )


def _goes_on(behind: Sequence[Word]) -> bool:
    """Tell whether a noun follows that is what the phrase names: of a meeting room, the room."""
    return any(word.tag in {"NOUN", "PROPN"} for word in behind)


def names_event(noun: str) -> bool:
    """Tell whether a noun, in lower case, names something that happens or how something is.

    >>> names_event("shortages"), names_event("kitchen")
    (True, False)
    """
    singular = noun.removesuffix("s")
    if noun in _NOT_EVENTS:
        return False
    singulars = (noun, singular, noun.removesuffix("es"), f"{noun.removesuffix('ies')}y")
    return not _EVENTS.isdisjoint(singulars) or noun.endswith(_ENDINGS)


def goes_wrong(words: Sequence[Word]) -> bool:
    """Tell whether a sentence tells of something that goes wrong, or does not go."""
    lower = {word.lower for word in words} - {"breakfast"}
    return any(word in _WITHOUT or word in _WRONG_ALONE or word.startswith(_WRONG) for word in lower)
