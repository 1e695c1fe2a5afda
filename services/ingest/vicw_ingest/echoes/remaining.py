"""What is left of a text without what it repeats."""

from __future__ import annotations

import re
from collections.abc import Iterable

_GAP = re.compile(r"\n\s*\n")
_WORDS = re.compile(r"\S")
_HIDDEN = "\ue000"


def without(text: str, taken: Iterable[tuple[int, int]]) -> str:
    """Return a text without some of its parts."""
    left, at = [], 0
    for start, end in sorted(taken):
        left.append(text[at : max(at, start)])
        at = max(at, end)
    return _GAP.sub("\n\n", "".join([*left, text[at:]])).strip() if left else text


def marked(text: str, quoted: Iterable[tuple[int, int]]) -> str:
    """Return a text with marks in place of what is quoted in it, of the same length: what is left can be cut out."""
    for start, end in quoted:
        text = text[:start] + _WORDS.sub(_HIDDEN, text[start:end]) + text[end:]
    return text


def unmarked(text: str) -> str:
    """Return a text with spaces in place of marks: whoever reads it finds all else where it stands."""
    return text.replace(_HIDDEN, " ")
