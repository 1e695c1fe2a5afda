"""The encoding of a text that names none and is no UTF-8, if only one can be meant.

Each encoding of one byte a letter is tried. It fits if the letters beyond ASCII are all of one language's alphabet and
stand as letters do: capitals before small letters, no marks inside words, one script in a word. If all that fit give
the same text, that is the text; else nobody can be sure, and nothing is assumed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

_RUSSIAN = "абвгдежзийклмнопрстуфхцчшщъыьэюяё"
_GREEK = "αβγδεζηθικλμνξοπρστυφχψωςάέήίόύώϊϋΐΰ"
_MARKS = "\u00a0“”‘’„‚–—…•«»€°§©®™±·†‹›"
_MARKS_OF_THE_WEST = "¿¡£¥¢²³¹ªº½¼¾µ×÷´¨¬¶"
_INSIDE = "’‘-–·\u00a0"
"""Marks that stand between two letters of a word, or of two words."""
_BEFORE_LETTERS = "¿¡"
_MOST_ACCENTS = 0.4
"""Of the letters of a text in Latin script."""
_LEAST_LETTERS = 20
"""Of a text in another script: fewer may be letters by chance, as those of Chinese bytes are."""
_BEYOND = re.compile(r"[^\x00-\x7f]")
_WORD_BEYOND = re.compile(r"(?<!\w)[^\x00-\x7f\W]{2,}(?!\w)")
"""A word of accented letters alone: no language in Latin script has one worth mentioning."""
_LOOKED_AT = 20_000
"""Characters beyond ASCII whose neighbours are looked at."""
_VOWELS = "аеиоуыэюяёіїєαεηιουωάέήίόύώ"
_VOWEL_SHARE = (0.25, 0.6)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """An encoding, and the letters beyond ASCII of each language that is written in it, small."""

    codec: str
    name: str
    alphabets: tuple[str, ...]
    marks: str = _MARKS
    is_latin: bool = True


_CANDIDATES = (
    _Candidate(
        "cp1252",
        "windows-1252",
        (
            *("äöüßéèà", "àâæçèéêëîïôœùûüÿ", "áéíñóúüç", "àáâãçéêíóôõúü", "àèéìíîòóùú", "åäöéüà"),
            *("æøåéèêóòôäöü", "éèëêïóöüáíç", "áðéíóúýþæö", "àçèéíïòóúü", "äöüõšž"),
        ),
        _MARKS + _MARKS_OF_THE_WEST,
    ),
    _Candidate(
        "cp1250",
        "windows-1250",
        ("ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "čćđšž", "ăâîşţ"),
    ),
    _Candidate("cp1254", "windows-1254", ("çğıiöşüâîû\u0307",)),
    _Candidate(
        "cp1251", "windows-1251", (_RUSSIAN, "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя", _RUSSIAN + "іў"), is_latin=False
    ),
    _Candidate("koi8_r", "koi8-r", (_RUSSIAN,), is_latin=False),
    _Candidate("cp1253", "windows-1253", (_GREEK,), is_latin=False),
)


def guessed_encoding(data: bytes) -> tuple[str, str] | None:
    """Return the codec of a text and its usual name, or None if several texts, or none, can be meant.

    >>> guessed_encoding("Où est le garçon ?".encode("cp1252"))
    ('cp1252', 'windows-1252')
    >>> guessed_encoding("ni\u00f1o".encode("cp1252")) is None  # in Poland it would be another letter
    True
    """
    fitting: dict[str, _Candidate] = {}
    for candidate in _CANDIDATES:
        try:
            text = data.decode(candidate.codec)
        except UnicodeDecodeError:
            continue
        if _fits(text, candidate):
            fitting.setdefault(text, candidate)
    if len(fitting) != 1:
        return None
    (found,) = fitting.values()
    return found.codec, found.name


def _fits(text: str, candidate: _Candidate) -> bool:
    used = {char for char in set(text) if not char.isascii()}
    letters = {char for char in used if char.isalpha() and char not in candidate.marks}
    if not used - letters <= set(candidate.marks):
        return False
    small = {char for letter in letters for char in letter.lower()}
    if not any(small <= set(alphabet) for alphabet in candidate.alphabets):
        return False
    beyond = sum(map(text.count, letters))
    if candidate.is_latin:
        ascii_letters = sum(char.isalpha() for char in text) - beyond
        is_likely = beyond <= _MOST_ACCENTS * (ascii_letters + beyond) and not _WORD_BEYOND.search(text)
    else:
        vowels = sum(text.count(char) + text.count(char.upper()) for char in _VOWELS)
        low, high = _VOWEL_SHARE
        is_likely = beyond >= _LEAST_LETTERS and low * beyond <= vowels <= high * beyond
    places = islice(_BEYOND.finditer(text), _LOOKED_AT)
    return is_likely and all(_stand_well(text, match.start(), candidate) for match in places)


def _stand_well(text: str, at: int, candidate: _Candidate) -> bool:
    """Return whether a character beyond ASCII stands beside others as it does in words."""
    char, before, after = text[at], text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    if not char.isalpha() or char in candidate.marks:
        if char in _BEFORE_LETTERS:
            return not before.isalpha()
        if char in _MARKS_OF_THE_WEST and (after.isalpha() or (before.isalpha() and char != "²")):
            return False  # in Poland these are letters
        return char in _INSIDE or not (before.isalpha() and after.isalpha())
    if (char.isupper() and before.islower()) or (char.islower() and after.isupper()):
        return False
    return candidate.is_latin or not any(one.isascii() and one.isalpha() for one in (before, after))
