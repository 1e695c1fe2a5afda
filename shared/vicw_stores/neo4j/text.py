"""Full-text query builder: a caller's text becomes plain words, never query syntax."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from vicw_stores.neo4j.keys import tenant_key

_MAX_TERMS = 100
"""Maximum number of terms: each term is looked up in several fields, and Lucene refuses over 1,024 clauses."""
_INSIDE = frozenset("_'’")
_UNSPACED = re.compile(r"[\u3041-\u3096\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
"""Scripts without visible word ends, which the index splits into single characters."""
JOINTS = ".:\u00b7\u2024\u2027\uff0e\uff1a"
"""Characters between letters that the index's analyser does not split at, as in ``module.function``."""
_WORD = re.compile(rf"\w+(?:(?:[{JOINTS}]|(?<=\d)[,;](?=\d))\w+)*")
_PART = re.compile(r"\w+")
_PART_OF_NAME = re.compile(r"[^\W_]+")
_STOP_WORDS = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this "
    "to was will with".split()
)
"""Stop words of the index's analyser: a query of only these would match every Chunk."""


def query_of(tenant: str, text: str) -> str | None:
    """Return the query for a tenant's Chunks with any word of ``text``, or None if it has no word.

    The tenant's key is a required term of weight 0.
    """
    terms = " ".join(f'"{term}"' for term in terms_of(text))
    return f'+tenant_key:"{tenant_key(tenant)}"^0 +(text:({terms}) parts:({terms}) head:({terms})^2)' if terms else None


def parts_of(text: str) -> list[str]:
    """Return the distinct parts of joined words for the index, since a query contains only the parts.

    Parts of names with underscores are included: the analyser indexes such a name as one word, but a query may contain
    its parts.
    """
    return list(dict.fromkeys(part for word in _WORD.findall(text) for part in _split_word(word)))


def _split_word(word: str) -> Iterator[str]:
    parts = _PART.findall(word)
    if len(parts) > 1:
        yield from parts
    for part in parts:
        if "_" in part:
            yield from _PART_OF_NAME.findall(part)


def terms_of(text: str) -> list[str]:
    """Return the distinct search words: only letters, digits, marks and ``_INSIDE``, so no query syntax."""
    terms: dict[str, None] = {}
    for term in _terms(text):
        terms.setdefault(term)
        if len(terms) == _MAX_TERMS:
            break
    return list(terms)


def _terms(text: str) -> Iterator[str]:
    for word in "".join(ch if _is_word_character(ch) else " " for ch in text.casefold()).split():
        if word in _STOP_WORDS or not any(map(str.isalnum, word)):
            continue
        for run in _UNSPACED.findall(word):
            yield from (run[start : start + 2] for start in range(max(1, len(run) - 1)))
        yield from (part for part in _UNSPACED.sub(" ", word).split() if any(map(str.isalnum, part)))


def _is_word_character(ch: str) -> bool:
    return ch in _INSIDE or unicodedata.category(ch)[0] in "LNM"
