"""From a text to its terms: the one analyser of sparse vectors and of the full text of both graph stores."""

from __future__ import annotations

import re
import threading
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import Stemmer

from vicw_core.index.words.compounds import compounds, measures
from vicw_core.index.words.languages import DEFAULT, LATIN, Detected, detect, stemmer_of
from vicw_core.index.words.letters import MARKS, folded, normalised
from vicw_shared.text import unaccented

_WORD = re.compile(rf"[\w{MARKS}]+")
_JOINED = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]|_|\d")
_PARTS = re.compile(rf"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|(?:[^\W\d_a-zA-Z]|[{MARKS}])+")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3100-\u312f\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff]+"
)
"""Scripts without spaces between words, and Hangul, whose words carry their particles."""
_IDEOGRAPH = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
"""A character that may be a word by itself."""
_CLUSTER = re.compile(rf"[^{MARKS}][{MARKS}]*|[{MARKS}]+")
_QUESTION_WORDS = frozenset("what who whom whose when where how why which do does did".split())
"""Words that state the kind of answer, not the subject.

All other words stay: IDF weighs them, and `I` and `my` mark a statement by users about themselves.
"""
_QUERY_CHUNKS = 16
"""Words of a query, at most, that may be of any language."""
_CACHED_CHARS = 64
"""Longest word that is cached, and stemmed."""


class _Terms[T](NamedTuple):
    """The terms of a part of a text: strings, or their ids."""

    stems: tuple[T, ...] = ()
    forms: tuple[T, ...] = ()
    wholes: tuple[T, ...] = ()


@dataclass(frozen=True, slots=True)
class Words:
    """The terms of a text, in its order, with repeats, each by its id (``term_id``).

    ``stems``: a term for each word, or several for the parts of an identifier, and pairs of characters in scripts
    without spaces. ``forms``: the unstemmed forms of the words that differ from their stem, and single ideographs.
    ``wholes``: what is more than its words (``compounds``). ``certain``: the text shows that it is English, so that
    its stems suffice.
    """

    stems: list[int] = field(default_factory=list)
    forms: list[int] = field(default_factory=list)
    wholes: list[int] = field(default_factory=list)
    certain: bool = False

    @property
    def terms(self) -> list[int]:
        """All terms together, with repeats."""
        return [*self.stems, *self.forms, *self.wholes]


def analyse(text: str) -> Words:
    """Return the terms of a text, of any length, in any script; a text without a word has none."""
    text = normalised(text)
    return _words(text, detect(text))


def analyse_query(text: str) -> Words:
    """Return the terms of a question; if it does not show its language, ``forms`` has the stems of all others, too.

    A text has the stems of one language, but three words may be of any.
    """
    text = normalised(text)
    detected = detect(text)
    words = _words(text, detected)
    if not detected.certain:
        for chunk in text.split()[:_QUERY_CHUNKS]:
            for language in LATIN:
                words.forms.extend(_chunk(chunk[:_CACHED_CHARS], language).stems)
    return words


def _words(text: str, detected: Detected) -> Words:
    language, certain = detected
    words = Words(certain=certain and language == DEFAULT)
    for chunk in text.split():
        stems, forms, wholes = (_chunk if len(chunk) <= _CACHED_CHARS else _ids)(chunk, language)
        words.stems.extend(stems)
        if forms:
            words.forms.extend(forms)
        if wholes:
            words.wholes.extend(wholes)
    words.wholes.extend(term_id(folded(measure)) for measure in measures(text))
    return words


def english_stems(text: str) -> Iterator[str]:
    """Return the stems of an English text as strings, in its order, with repeats."""
    for chunk in normalised(text).split():
        yield from _analyse(chunk, DEFAULT).stems


def term_id(term: str) -> int:
    """Return the id of a folded term, an unsigned 32 bit number."""
    return zlib.crc32(term.encode())


def _ids(chunk: str, language: str) -> _Terms[int]:
    return _Terms(*(tuple(map(term_id, terms)) for terms in _analyse(chunk, language)))


_chunk = lru_cache(maxsize=65536)(_ids)


def _analyse(chunk: str, language: str) -> _Terms[str]:
    """Return the terms of a chunk of text without spaces."""
    found = _WORD.findall(chunk)
    terms = [(_word if len(word) <= _CACHED_CHARS else _of_word)(word, language) for word in found]
    if len(terms) == 1 and found[0] == chunk:
        return terms[0]
    return _Terms(
        tuple(stem for word in terms for stem in word.stems),
        tuple(form for word in terms for form in word.forms),
        (*(whole for word in terms for whole in word.wholes), *map(folded, compounds(chunk))),
    )


def _of_word(word: str, language: str) -> _Terms[str]:
    if folded(word) in _QUESTION_WORDS or not word.strip("_"):
        return _Terms[str]()
    stems, spaced = list[str](), [word]
    if _UNSPACED.search(word):
        stems = [pair for run in _UNSPACED.findall(word) for pair in _pairs(run)]
        spaced = _UNSPACED.sub(" ", word).split()
    pieces, wholes = list[str](), list[str]()
    for part in spaced:
        parts = _PARTS.findall(unaccented(part)) if _JOINED.search(part) and not part.isdigit() else [part]
        pieces += parts
        if len(parts) > 1:
            wholes.append(folded(part))
    forms = [folded(piece) for piece in pieces]
    stemmed = [
        (form, _stem(piece, form, language))
        for piece, form in zip(pieces, forms, strict=True)
        if form not in _QUESTION_WORDS
    ]
    stems += [stem for _, stem in stemmed]
    unstemmed = [form for form, stem in stemmed if form != stem] + _IDEOGRAPH.findall(word if len(word) > 1 else "")
    return _Terms(tuple(stems), tuple(unstemmed), tuple(wholes))


_word = lru_cache(maxsize=32768)(_of_word)


def _stem(word: str, form: str, latin: str) -> str:
    """Return the folded stem of a word, whose folded form is ``form``."""
    language = stemmer_of(word, latin)
    if language is None or len(word) > _CACHED_CHARS:
        return form
    # English has no accents of its own: with or without, a word has the same stem.
    stem = _stemmer(language).stemWord(form if language == DEFAULT else word.lower())
    return folded(stem) or form


class _Stemmers(threading.local):
    """The stemmers of a thread: none of them may be used by two at once, and making one takes longer than a word."""

    def __init__(self) -> None:
        self.by_language: dict[str, Stemmer.Stemmer] = {}


_stemmers = _Stemmers()


def _stemmer(language: str) -> Stemmer.Stemmer:
    stemmer = _stemmers.by_language.get(language)
    if stemmer is None:
        stemmer = _stemmers.by_language[language] = Stemmer.Stemmer(language, 0)
    return stemmer


def _pairs(run: str) -> Iterator[str]:
    """Yield the pairs of neighbouring characters, each with its marks; a single character is alone."""
    clusters = [folded(cluster) for cluster in _CLUSTER.findall(run)]
    for at in range(max(1, len(clusters) - 1)):
        yield "".join(clusters[at : at + 2])
