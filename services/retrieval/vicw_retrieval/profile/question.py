"""Whether a question asks what is known of its asker, in the languages whose dates are read."""

from __future__ import annotations

import re

_READ_CHARS = 300
_BEFORE = r"(?:(?:so|ok(?:ay)?|hey|hi|hello|well|now|and|also|und|et|y|e|por favor|bitte|please)[,!]?\s+)*"
_AFTER = (
    r"(?:[,\s]+(?:so far|already|by now|now|today|please|in general|overall|exactly|(?:from|in) (?:our|these|my) \w+"
    r"|bisher|schon|eigentlich|genau|jetzt|bitte|jusqu['’]ici|déjà|exactement|hasta ahora|ya|exactamente|finora|già"
    r"|até agora|já|exatamente))*"
)
_FORMS = (
    r"(?:what|which things|what (?:all|else|things|facts|information|details)) (?:do|did|have|can) (?:you|we) "
    r"(?:already |all |still |actually |really )?"
    r"(?:know|remember|learn(?:ed|t)?|ha(?:ve|d)|stored?|save[d]?|got|tell me|recall|found out) "
    r"(?:(?:on file|stored|saved|anything|everything) )?(?:about|of|on) (?:me|myself)(?: as a person)?",
    r"what(?:'s|’s| is) (?:known|stored|saved|remembered) (?:about|of|on) me",
    r"(?:(?:can|could|would|will) you )?(?:please )?(?:tell|show|give|remind) me (?:all|everything|anything"
    r"|what|the things)? ?"
    r"(?:that )?(?:you (?:already )?(?:know|remember|have(?: learned| learnt| stored)?) )?(?:about|of"
    r"|on) (?:me|myself)",
    r"(?:(?:can|could|would|will) you )?(?:please )?(?:summari[sz]e|list|describe|recap) "
    r"(?:(?:all|everything|what|the things|the facts) )?(?:that )?(?:you (?:already )?(?:know|remember"
    r"|have)(?: about| of)? )?"
    r"(?:me|myself|my profile)",
    r"what have I (?:told|said to|shared with|mentioned to) you (?:about|of) (?:me|myself)",
    r"who am I|what (?:kind|sort) of person am I|do you (?:know|remember) (?:me|who I am)|(?:show me )?my profile",
    r"was (?:alles )?(?:wei(?:ß|ss)t|weißst|kennst|hast|erinnerst) (?:du|Du) (?:alles |schon |noch |bisher "
    r"|dir |eigentlich )*"
    r"(?:über|ueber|von) mich|was (?:alles )?wei(?:ß|ss)t du (?:alles |schon |noch |bisher |eigentlich )*von mir",
    r"was (?:wissen|wisst) (?:sie|ihr) (?:alles |schon |bisher )*(?:über mich|von mir)|wer bin ich|kennst du mich"
    r"|(?:erzähl|erzähle|sag|sage) mir(?: bitte)?,? (?:etwas|alles|was du)(?: wei(?:ß"
    r"|ss)t)? über mich(?: wei(?:ß|ss)t)?"
    r"|was habe ich dir (?:alles |schon |bisher )*(?:über|von) mi(?:ch|r) erzählt",
    r"(?:que|qu['’]est-ce que) (?:tu |vous )?(?:sais|savez|connais|connaissez|te rappelles|retiens)(?:-tu|-vous)? "
    r"(?:déjà )?(?:de|sur|à propos de) moi",
    r"qui suis-je|(?:dis|raconte)-moi (?:tout )?ce que tu sais (?:de|sur) moi|tu (?:sais|connais) quoi (?:de|sur) moi"
    r"|qu['’]ai-je dit (?:de|sur) moi|que t['’]ai-je (?:dit|raconté) (?:de|sur) moi",
    r"[¿]?qué (?:sabes|sabe|recuerdas|conoces) (?:tú |usted )?(?:ya )?(?:de|sobre|acerca de) mí",
    r"[¿]?quién soy(?: yo)?|(?:dime|cuéntame) (?:todo )?lo que sabes (?:de|sobre) mí|[¿]?qué te he (?:contado"
    r"|dicho) (?:de|sobre) mí",
    r"(?:che )?(?:cosa )?(?:sai|sapete|ricordi|conosci) (?:già )?(?:di|su di|su) me|chi sono(?: io)?"
    r"|(?:dimmi|raccontami) (?:tutto )?(?:quello|ciò) che sai (?:di|su di) me|(?:che )?cosa ti ho (?:detto"
    r"|raccontato) di me",
    r"o que (?:é que )?(?:você |tu )?(?:já )?(?:sabes?|lembras?|conheces?) (?:de|sobre|a respeito de) mim|quem sou eu"
    r"|(?:me diga|diga-me|conte-me|me conte) (?:tudo )?o que (?:você )?sabe (?:de|sobre) mim",
    r"(?:你|您)(?:都|已经|还)?(?:知道|了解|记得|记住了?)(?:关于)?我(?:的)?(?:什么|哪些(?:事|信息)?|多少|的哪些事)?(?:吗|呢)?"
    r"|关于我[,，]?(?:你|您)(?:都|已经|还)?(?:知道|了解|记得)(?:些)?(?:什么|哪些|多少)(?:呢)?|我是谁"
    r"|(?:你|您)对我(?:有什么|有多少|了解多少|知道什么)(?:了解)?",
    r"(?:あなたは)?(?:私|僕|俺|わたし)(?:について|のこと(?:を|について)?)(?:、)?(?:あなたは)?(?:何|なに|どんなこと|どれくらい|どこまで)?"
    r"(?:を|が)?(?:知って|覚えて|わかって)(?:い)?(?:る|ます)(?:か|の|こと)?(?:は何ですか)?|(?:私|僕|俺)は(?:誰|だれ)(?:ですか)?",
)
_PROFILE = re.compile(rf"\W*{_BEFORE}(?:{'|'.join(_FORMS)}){_AFTER}\W*", re.IGNORECASE)


def asks_for_profile(query: str) -> bool:
    """Return whether a question asks what is known of its asker, and nothing more particular.

    >>> asks_for_profile("What do you know about me?"), asks_for_profile("Was weißt du über mich?")
    (True, True)
    >>> asks_for_profile("What do you know about me and the boat?")
    False
    """
    return len(query) <= _READ_CHARS and _PROFILE.fullmatch(query) is not None
