"""Which stemmer a text's words have: by a vote of frequent words for Latin letters, by the script for all others."""

from __future__ import annotations

import re
from typing import NamedTuple

from vicw_core.index.words.stop_words import LANGUAGES, LETTERS, VOTES

DEFAULT = "english"
"""Stemmer of Latin words whose language is not certain: names, code, a question of few words."""
LATIN = tuple(language for language in LANGUAGES if language != DEFAULT)
"""All other languages in Latin letters."""
_CHARS = 800
_AROUND = ".,;:!?()[]{}\"'’“”„«»¿¡-–—*_#>"
_CERTAIN = 1.4
_MARGIN = 1.4
"""The winner needs more than one vote of its own, and this multiple of the second's."""
_SCRIPTS = (
    ("greek", re.compile("[\u0370-\u03ff\u1f00-\u1fff]")),
    ("russian", re.compile("[\u0400-\u04ff]")),
    ("armenian", re.compile("[\u0530-\u058f]")),
    ("arabic", re.compile("[\u0600-\u06ff]")),
    ("hindi", re.compile("[\u0900-\u097f]")),
    ("tamil", re.compile("[\u0b80-\u0bff]")),
)
_PERSIAN = re.compile("[\u067e\u0686\u0698\u06a9\u06af\u06cc]")
"""Letters that Persian has and Arabic does not."""
_NOT_RUSSIAN = re.compile("[\u0402\u0403-\u040c\u040e\u040f\u0452\u0453-\u045c\u045e\u045f\u0490\u0491]")
"""Letters of other languages in Cyrillic, whose words keep their form."""


class Detected(NamedTuple):
    """The language of a text's Latin words, and whether the text says so; if not, it is ``DEFAULT``."""

    language: str
    certain: bool


_UNKNOWN = Detected(DEFAULT, certain=False)


def detect(text: str) -> Detected:
    """Return the language of a text's Latin words: that of its frequent words, each distinct one counted once."""
    lowered = text.lower()
    words = {word.strip(_AROUND) for word in lowered[:_CHARS].split()}
    words |= {letter for letter in LETTERS if letter in lowered} if not lowered.isascii() else set()
    scores: dict[str, float] = {}
    for word in words & VOTES.keys():
        for language, weight in VOTES[word].items():
            scores[language] = scores.get(language, 0.0) + weight
    if not scores:
        return _UNKNOWN
    best, *others = sorted(scores, key=lambda language: -scores[language])
    second = scores[others[0]] if others else 0.0
    if scores[best] < _CERTAIN or scores[best] < _MARGIN * second:
        return _UNKNOWN
    return Detected(best, certain=True)


def stemmer_of(word: str, latin: str) -> str | None:
    """Return the stemmer of one word, in a text whose Latin words are ``latin``; None: its words have no stems."""
    if word.isascii():
        return latin
    for language, letters in _SCRIPTS:
        if letters.search(word):
            if language == "arabic" and _PERSIAN.search(word):
                return "persian"
            return None if language == "russian" and _NOT_RUSSIAN.search(word) else language
    return latin
