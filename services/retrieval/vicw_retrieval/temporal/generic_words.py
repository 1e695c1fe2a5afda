"""Words of a question that select nothing: what is left beside them does."""

from __future__ import annotations

import re

_GENERIC = frozenset(
    "a about again all an and any anything are at back been between brief by can change changed changes chat chats "
    "conversation conversations could did discuss discussed discussing discussion do does doing done during event "
    "events everything exactly for from had happen happened happening happens has have having i in is it last list me "
    "memories memory mention mentioned message messages occur occurred of on our ours over past please recall recap "
    "remember remind s said say session sessions show so some something speak spoke spoken summarise summarize "
    "summary talk talked talking tell that the there these thing things this those to told topic topics up us was we "
    "were what which with would you your yours".split()
)


_PHRASES = re.compile(
    r"\b(?:go(?:ing)?|went)\ on\b|\btook\ place\b|\bgive\ me\b|\bcame\ up\b"
    r"|\b(?:(?:before|after|around|since|until|till)\ )?"
    r"(?:\d{1,2}(?::\d\d)?\ ?[ap](?:m\b|\.m\.)|(?:\d{1,2}:\d\d|noon|midnight)\b)",
    re.VERBOSE | re.IGNORECASE,
)
"""Words that select nothing, among them hours that were not parsed: they belong to the day beside them."""


_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


def selects_more(rest: str) -> bool:
    """Return whether the rest of a question, without its times, has a word that selects."""
    words = _WORD.findall(_PHRASES.sub(" ", rest).lower())
    return any(word.replace("’", "'").removesuffix("'s") not in _GENERIC for word in words)
