"""Words of a question that select nothing, in any one language: what is left beside them does."""

from __future__ import annotations

import re
from functools import cache

from vicw_core.language.times.vocabulary import Language, language, languages

_PHRASES = re.compile(
    r"\b(?:go(?:ing)?|went)\ on\b|\btook\ place\b|\bgive\ me\b|\bcame\ up\b"
    r"|\b(?:(?:before|after|around|since|until|till)\ )?"
    r"(?:\d{1,2}(?::\d\d)?\ ?[ap](?:m\b|\.m\.)|(?:\d{1,2}:\d\d|noon|midnight)\b)",
    re.VERBOSE | re.IGNORECASE,
)
"""Words that select nothing, among them hours that were not parsed: they belong to the day beside them."""


_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


def selects_more(rest: str) -> bool:
    """Return whether the rest of a question, without its times, has a word that selects.

    It has none if all are generic in one language: of several at once, "war" would select nothing in English.
    """
    rest = _PHRASES.sub(" ", rest).lower()
    words = [word.replace("’", "'").removesuffix("'s") for word in _WORD.findall(rest)]
    return bool(words) and not any(_is_generic(one, rest, words) for one in languages())


def _is_generic(one: Language, rest: str, words: list[str]) -> bool:
    if one.characters is not None:
        return not rest.isascii() and not _WORD.search(_generic_characters(one.code).sub(" ", rest))
    return all(word in one.generic or all(part in one.generic for part in word.split("'")) for word in words)


@cache
def _generic_characters(code: str) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(language(code).generic, key=len, reverse=True))) or "(?!)")
