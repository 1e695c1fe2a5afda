"""The languages of times: tables of words and patterns over them, from the files in ``languages``.

A pattern is a regular expression with names in braces: ``{n}`` a count, ``{u}`` a unit, ``{wd}`` a day of the week,
``{mo}`` a month, ``{d}`` and ``{od}`` a day of the month without and with the mark of an ordinal, ``{y}`` a year,
``{near}`` a day counted from today, ``{part}`` a part of the day, ``{edge}`` a part of a month or year, ``{season}``,
``{feast}``, ``{per}`` a calendar period, ``{dur}`` a named length, ``{few}``, ``{vague}``; ``{lead}`` a word that shows
that a time follows and is no part of it; ``{name:a|b}`` words of the pattern's own. A space is one or more.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "zh", "ja", "any")
_DAY = r"(?:3[01]|[12]\d|0?[1-9])"
_YEAR = r"(?:19|20)\d\d"
_NAMED = re.compile(r"\{([a-z]+)(\d?)(?::([^{}]*))?\}|\(\?P<(\w+)>")
_TABLES = {
    "n": "numbers",
    "u": "units",
    "wd": "weekdays",
    "wds": "weekdays_plural",
    "mo": "months",
    "near": "days",
    "part": "parts",
    "edge": "edges",
    "season": "seasons",
    "feast": "feasts",
    "per": "periods",
    "dur": "durations",
    "vague": "vague",
    "moment": "moments",
    "q": "ordinals",
}


@dataclass(frozen=True, slots=True)
class Language:
    """One language: its words by table and folded form, and what says whether a text may be in it."""

    code: str
    tables: Mapping[str, Mapping[str, Any]]
    triggers: frozenset[str]
    """MatchedWords of which a text with a time in this language has one, or figures."""
    figure_words: frozenset[str]
    """MatchedWords that suffice where the text has figures, too: "in 2024" has no other word of its language."""
    characters: re.Pattern[str] | None
    """The same for a language that is written without spaces."""
    careful: frozenset[str]
    """Months and days that are other words, too: they count in capitals, or after a word that expects a time."""
    strong: frozenset[str]
    future: re.Pattern[str] | None
    """MatchedWords of a text that is about the future; None: the tense of English decides."""
    day_first: bool | None
    """Order of day and month in dates with slashes; None: not known from the language."""
    generic: frozenset[str]
    """Words of a question that select nothing beside a time."""
    first: re.Pattern[str] | None
    last: re.Pattern[str] | None

    def value(self, name: str, words: str) -> Any:
        """Return the value of the words that matched a name of a pattern."""
        return self.tables[_TABLES[name]][fold(words)]


@dataclass(frozen=True, slots=True)
class Patterns:
    """All patterns of a language in one expression, and their kinds by number."""

    whole: re.Pattern[str]
    kinds: tuple[str, ...]
    part_before: re.Pattern[str]
    part_behind: re.Pattern[str]
    """A part of the day beside a day."""


def fold(words: str) -> str:
    """Return words in small letters with single spaces, without a dot at the end."""
    return " ".join(words.lower().replace("’", "'").split()).rstrip(".")


@cache
def raw_data(code: str) -> dict[str, Any]:
    """Return what the file of a language says. Raises FileNotFoundError for one that has no file."""
    return tomllib.loads((files(__package__) / "languages" / f"{code}.toml").read_text("utf-8"))


@cache
def language(code: str) -> Language:
    """Return a language. Raises FileNotFoundError for one that has no file."""
    data = raw_data(code)
    spaced = data.get("spaced", True)
    tables = {name: _folded(table) for name, table in data.items() if isinstance(table, dict) and name != "patterns"}
    characters = re.compile(data["characters"]) if "characters" in data else None
    order = {end: _any(data.get("order", {}).get(end, ()), spaced) for end in ("first", "last")}
    return Language(
        code,
        tables,
        frozenset(_trigger_words(tables, data)) if spaced else frozenset(),
        frozenset(data.get("figure_words", ())),
        characters,
        frozenset(data.get("careful", ())),
        frozenset(data.get("strong", ())),
        re.compile(data["future"]) if "future" in data else None,
        data.get("day_first"),
        frozenset(data.get("generic", "").split()),
        order["first"],
        order["last"],
    )


@cache
def patterns(code: str) -> Patterns:
    """Return the patterns of a language, compiled when a text first needs them: all take a tenth of a second.

    Raises FileNotFoundError for one that has no file.
    """
    data, tables = raw_data(code), language(code).tables
    spaced = data.get("spaced", True)
    apart = spaced and not data.get("compounds", False)
    names = {name: _words(tables.get(table, {}), apart) for name, table in _TABLES.items()}
    names |= {
        "n": "|".join([r"\d{1,4}", *([data["number_words"]] if "number_words" in data else []), names["n"]]),
        "d": _DAY + data.get("ordinal", "") + (f"|{data['day_words']}" if "day_words" in data else ""),
        "od": _DAY + data.get("ordinal_sure", data.get("ordinal", "")),
        "y": _YEAR,
        "lead": data.get("lead", "(?!)"),
        "few": data.get("few", "(?!)"),
    }
    kinds: list[str] = []
    parts: list[str] = []
    for kind, templates in data["patterns"].items():
        for template in templates:
            parts.append(f"(?P<k{len(kinds)}>{_expand(template, names, len(kinds))})")
            kinds.append(kind)
    body = "|".join(parts) or "(?!)"
    whole = re.compile(rf"(?<!\w)(?:{body})(?!\w)" if spaced else f"(?:{body})")
    before, behind = (_expand(data.get(name, "(?!)"), names, 0) for name in ("part_before", "part_after"))
    return Patterns(
        whole,
        tuple(kinds),
        re.compile(rf"(?<!\w)(?:{before})\s*$" if spaced else rf"(?:{before})\s*$"),
        re.compile(rf"(?:{behind})(?!\w)" if spaced else behind),
    )


@cache
def languages() -> tuple[Language, ...]:
    """Return all languages."""
    return tuple(language(code) for code in LANGUAGES)


@cache
def relations(code: str) -> dict[str, str]:
    """Return the words that relate to a time, as alternatives, by the name of the relation; of all languages, for any.

    One that a language has no word for is left out.
    """
    found: dict[str, list[str]] = {}
    for one in LANGUAGES if code == "any" else (code,):
        data = raw_data(one)
        for name, words in data.get("relations", {}).items():
            found.setdefault(name, []).extend(word.replace(" ", r"\s+") for word in words)
    return {name: "|".join(sorted(words, key=len, reverse=True)) for name, words in found.items()}


def _folded(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table with its words folded, and without their accents, too: many people type none."""
    plain = {_unaccented(fold(word)): value for word, value in table.items()}
    return plain | {fold(word): value for word, value in table.items()}


def _unaccented(word: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))


def _words(table: Iterable[str], apart: bool) -> str:
    words = sorted(table, key=len, reverse=True)
    if not words:
        return "(?!)"
    found = "|".join(re.escape(word).replace(r"\ ", r"\s+").replace("'", "['’]") for word in words)
    return rf"(?:{found})(?![^\W\d_])\.?" if apart else f"(?:{found})\\.?"


def _expand(template: str, names: Mapping[str, str], number: int) -> str:
    def named(match: re.Match[str]) -> str:
        if match[4]:
            return f"(?P<{match[4]}_{number}>"
        return f"(?P<{match[1]}{match[2]}_{number}>{names[match[1]] if match[3] is None else match[3]})"

    return _NAMED.sub(named, template).replace("[ -]", r"[\s-]").replace(" ?", r"\s*").replace(" ", r"\s+")


def _any(patterns: Iterable[str], spaced: bool) -> re.Pattern[str] | None:
    body = "|".join(pattern.replace(" ", r"\s+") for pattern in patterns)
    if not body:
        return None
    return re.compile(rf"(?<!\w)(?:{body})(?!\w)" if spaced else f"(?:{body})", re.IGNORECASE)


def _trigger_words(tables: Mapping[str, Mapping[str, Any]], data: Mapping[str, Any]) -> Iterable[str]:
    """Yield the longest word of each entry: without it the entry cannot be in a text."""
    for name in _TABLES.values():
        if name not in {"numbers", "ordinals", "edges"}:
            for words in tables.get(name, ()):
                yield max(re.findall(r"[^\W\d_]+", words), key=len)
    if data.get("compounds"):
        yield from (day + part for day in tables["weekdays"] for part in tables["parts"])
        yield from (month + "woche" for month in tables["months"])
    yield from data.get("triggers", ())


def lowered(text: str) -> str:
    """Return a text in small letters, each in its place, with plain apostrophes and spaces."""
    small = text.lower()
    if len(small) != len(text):
        small = "".join(c if len(c.lower()) > 1 else c.lower() for c in text)
    return small.replace("’", "'").replace("\xa0", " ")
