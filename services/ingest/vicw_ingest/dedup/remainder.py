"""Remainder of a text without its repeated parts."""

from __future__ import annotations

import re
from collections.abc import Iterable

_GAP = re.compile(r"\n\s*\n")
_FENCE = re.compile(r"</?[\w-]{0,30}(?:memor|recall)[\w-]{0,30}(?:\s[^<>\n]{0,200})?>", re.IGNORECASE)
_MARKS = re.compile(r"[\s\-=_*~#·•|+<>/\[\](){}`\"'—–…:.,;]*")


def remove_parts(text: str, taken: Iterable[tuple[int, int]]) -> str:
    """Return a text without the spans in ``taken``."""
    parts, at = [], 0
    for start, end in sorted(taken):
        parts.append(text[at : max(at, start)])
        at = max(at, end)
    return _GAP.sub("\n\n", "".join([*parts, text[at:]])).strip() if parts else text


def is_blank(rest: str) -> bool:
    """Return whether a remainder consists only of punctuation and tags around recalled text (``<memory>``)."""
    return _MARKS.fullmatch(_FENCE.sub("", rest)) is not None
