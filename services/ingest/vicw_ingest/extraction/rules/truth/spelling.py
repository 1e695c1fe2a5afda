"""Sentences without the contractions that hide a verb."""

from __future__ import annotations

import re

from vicw_ingest.extraction.rules.truth.axes import STATE
from vicw_ingest.extraction.rules.truth.nouns import ATTRIBUTES

_IS = (
    r"(?:(?:now|been|still|a|an|the|in|on|at|by|next|called|named|no longer|not|up|down|off|back|my|our|your|their|due|"
    r"based|moved|going|currently|just|also|only|free)\b|(?:\d[\d,.]*(?= (?:a|per|an|now|euros?|dollars?|pounds?|"
    r"francs?)\b|[.,;!]|$)|"
    r"[$€£#]))"
)
_RULES = tuple(
    (re.compile(form), instead)
    for form, instead in (
        (r"\b([Ii])['’]m\b", r"\1 am"),
        (r"\b(I|[Ww]e|[Tt]hey|[Yy]ou)['’]ve\b", r"\1 have"),
        (r"\b([Ww]e|[Tt]hey|[Yy]ou|[Tt]here)['’]re\b", r"\1 are"),
        (r"\b([Hh]e|[Ss]he|[Ii]t|[Tt]here)['’]s\b", r"\1 is"),
        (rf"(?<!\bis )(?<!\bare )\b(\w+)['’]s (?={_IS})(?!(?:a|an|the|my|our|your) (?:\w+)['’]s)", r"\1 is "),
        (
            rf"\b((?i:{'|'.join(ATTRIBUTES)}))['’]s (?=(?:(?:[A-Z][\w-]*|Mrs?\.?)(?: [A-Z][\w-]*)*|"
            r"\d[\w-]*|#\S+|\w+[_@]\S*\w)(?: now| these days| today)?(?:[.,;:!]|$| (?:and|but|since)\b))",
            r"\1 is ",
        ),
        (
            rf"\b(\w+)['’]s (?=(?:{STATE})(?: again| now| today)?(?:[.,;:!]|$| (?:and|but|since|for|until|because|"
            rf"in|on)\b))",
            r"\1 is ",
        ),
        (r"\b[Ww]on['’]t\b", "will not"),
        (r"\b[Cc]an['’]t\b", "can not"),
        (r"(?<=\w)n['’]t\b", " not"),
        (
            r"\b(have|has) got (?=(?:an?|the|my|our|no|some|only|about|\d[\d,]*|one|two|three|four|five|six|seven|"
            r"eight|nine|ten|"
            r"eleven|twelve)\b)",
            r"\1 ",
        ),
    )
)


def expanded(text: str) -> str:
    """Return a sentence without contractions, with a capital letter.

    >>> expanded("we've got three cats now, the shop's closed and he isn't in")
    'We have three cats now, the shop is closed and he is not in'
    """
    if "'" in text or "’" in text:
        for form, instead in _RULES:
            text = form.sub(instead, text)
    text = text.strip()
    return text[:1].upper() + text[1:]
