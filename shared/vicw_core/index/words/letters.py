"""Letters: one form for what is written in several ways."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from vicw_shared.text import unaccented

MARKS = re.escape("".join(chr(code) for code in range(0x300, 0xFE30) if unicodedata.category(chr(code))[0] == "M"))
"""Marks for a character class: ``\\\\w`` lacks them, but they are inside words, as vowel signs or accents."""
_ZERO_WIDTH_SPACE = "\u200b"
_IGNORED = re.compile(
    f"[\u00ad\u034f\u061c\u0640\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]|(?<=[\\w{MARKS}])[\u200c\u200d]"
)
"""Soft hyphens, joiners inside words, marks of direction, the lengthening stroke of Arabic: they change no word."""
_UNJOINED = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670]"
)
"""Accents that make no letter with the one before, and points of Hebrew and Arabic, which only some texts have."""


def normalised(text: str) -> str:
    """Return a text in NFKC (ligatures, full and half width), without characters that change no word."""
    if text.isascii():
        return text
    return _IGNORED.sub("", unicodedata.normalize("NFKC", text.replace(_ZERO_WIDTH_SPACE, " ")))


@lru_cache(maxsize=16384)
def folded(word: str) -> str:
    """Return a word of a normalised text in lower case, without accents and points.

    Latin and Greek letters lose all their marks, those with strokes and ligatures become plain ones; in other scripts a
    mark makes another letter (й), and stays.
    """
    if word.isascii():
        return word.lower()
    lowered = unaccented(_bare(word)).casefold()
    return lowered if lowered.isascii() else _UNJOINED.sub("", lowered)


def _bare(word: str) -> str:
    """Return a word in NFC, its Latin and Greek letters without accents."""
    letters: list[str] = []
    has_accents = True
    for letter in unicodedata.normalize("NFD", word):
        if not "\u0300" <= letter <= "\u036f":
            has_accents = letter < "\u0400" or "\u1e00" <= letter <= "\u1fff"
        elif has_accents:
            continue
        letters.append(letter)
    return unicodedata.normalize("NFC", "".join(letters))
