"""The front matter of a page: YAML between ``---`` lines or TOML between ``+++`` lines.

People write it by hand: what is no valid YAML is read key by key, and said.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import islice
from typing import Any

from vicw_shared.text import lines_of, visible

_KEY = re.compile(r"^(?=[\w. -]*\w\s*:(?:\s|$))", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\{\{.*\}\}|<%.*%>")
_MAX_LINES = 500
_MAX_CHARS = 20_000
_MAX_VALUES = 64
_MAX_VALUE_CHARS = 200
_MAX_DEPTH = 3
_DATES = ("date", "created", "created_at", "date created", "created time", "pubdate")
"""Properties that say when a page was written, the first that is there."""
_NAMED = {"title", "id", "aliases", "alias", "tags", "tag", "keywords"}

type Property = str | int | float | bool | list[str]


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """Parsed front matter. ``lines`` is the number of lines that it occupies in the file; ``key`` is its ``id``.

    ``properties`` are all that it holds beside its title, id, aliases and tags; times are ISO 8601. ``time`` is when
    the page was written, as far as it says. ``problems`` are what could not be read as it stands.
    """

    lines: int = 0
    title: str | None = None
    key: str | None = None
    description: str | None = None
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    properties: dict[str, Property] = field(default_factory=dict)
    time: date | datetime | None = None
    problems: tuple[str, ...] = ()


def front_matter(text: str) -> FrontMatter:
    """Return the front matter at the start of ``text``; an empty one if it is missing or cannot be parsed."""
    lines = lines_of(text[:_MAX_CHARS])[:_MAX_LINES]
    fence = lines[0].rstrip() if lines else ""
    if fence not in {"---", "+++"}:
        return FrontMatter()
    ends = {fence, "..."} if fence == "---" else {fence}
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() in ends:
            block = "".join(lines[1:number])
            problems: list[str] = []
            values = _values(block, fence)
            repeated = [key for key, count in Counter(_keys(block)).items() if count > 1]
            if (values is None or repeated) and fence == "---" and _KEY.match(block):
                reason = f"names {repeated[0]!r} twice" if repeated and values is not None else "is no valid YAML"
                problems.append(f"front matter {reason}; read key by key")
                values = _by_key(block, problems)
            return FrontMatter() if values is None else _front_matter(number + 1, values, problems)
    return FrontMatter()


def _keys(block: str) -> Iterator[str]:
    """Yield the keys of the first level."""
    for part in _KEY.split(block):
        if part[:1].strip() and ":" in part:
            yield part.partition(":")[0].strip().lower()


def _values(block: str, fence: str) -> dict[str, Any] | None:
    """Return the block's values by lower-case key; None if it is a horizontal rule or cannot be parsed."""
    import yaml  # slow to import, and few texts have front matter

    try:
        values = tomllib.loads(block) if fence == "+++" else yaml.safe_load(block.expandtabs())
    except (tomllib.TOMLDecodeError, yaml.YAMLError, ValueError, RecursionError):
        return None
    if values is None and not visible(block):
        return {}
    return {str(key).lower(): value for key, value in values.items()} if isinstance(values, dict) else None


def _by_key(block: str, problems: list[str]) -> dict[str, Any]:
    """Parse an invalid block key by key; a value that does not parse becomes plain text. Repeated lists are joined."""
    values: dict[str, Any] = {}
    for part in _KEY.split(block):
        key, _, value = part.partition(":")
        key, value = key.strip().lower(), value.strip()
        if not key:
            continue
        if _PLACEHOLDER.search(value):
            problems.append(f"{key!r} of the front matter is a placeholder that was never filled in")
            continue
        plain = value.strip("[]") if value[:1].isalnum() or value[:1] in "[\"'#" else None
        read = (_values(part, "---") or {key: plain}).get(key)
        earlier = values.get(key)
        values[key] = read if earlier is None else [*_texts(earlier), *_texts(read)]
    return values


def _front_matter(lines: int, values: dict[str, Any], problems: list[str]) -> FrontMatter:
    aliases = [*_texts(values.get("aliases")), *_texts(values.get("alias"))]
    tags = values.get("tags", values.get("tag", values.get("keywords")))
    return FrontMatter(
        lines,
        title=next(_texts(values.get("title")), None),
        key=next(_texts(values.get("id")), None),
        description=next(_texts(values.get("description", values.get("summary"))), None),
        aliases=tuple(dict.fromkeys(aliases))[:_MAX_VALUES],
        tags=tuple(dict.fromkeys(tag for text in _split(tags) if (tag := text.lstrip("#").strip())))[:_MAX_VALUES],
        properties=dict(islice(_properties(values), _MAX_VALUES)),
        time=next(filter(None, (as_time(values.get(key)) for key in _DATES)), None),
        problems=tuple(problems),
    )


def as_time(value: object) -> date | datetime | None:
    """Return a value as a time, or as a date without one; None if it is neither."""
    if isinstance(value, date):
        return value
    if not isinstance(value, str):
        return None
    for read in (date.fromisoformat, datetime.fromisoformat):
        try:
            return read(value.strip())
        except ValueError:
            continue
    return None


def _properties(values: dict[str, Any], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Property]]:
    """Yield all values but those with a place of their own; what is nested by its path, ``author.name``.

    Not deeper than a few levels: an anchor of YAML may lead back to what it is in.
    """
    if depth > _MAX_DEPTH:
        return
    for name, value in values.items():
        key = f"{prefix}{name}"[:_MAX_VALUE_CHARS]
        if key in _NAMED or not visible(key):
            continue
        if isinstance(value, dict):
            yield from _properties({str(inner): each for inner, each in value.items()}, f"{key}.", depth + 1)
        elif isinstance(value, list):
            yield key, list(islice(_texts(value), _MAX_VALUES))
        elif isinstance(value, bool | int | float):
            yield key, value if abs(value) < 2**53 else str(value)
        elif text := next(_texts(value), None):
            yield key, value.isoformat() if isinstance(value, date) else text


def _texts(value: object) -> Iterator[str]:
    """Yield the texts of a value, which is one text or a list. Numbers and dates become their text."""
    for part in value if isinstance(value, list) else [value]:
        if part is None or isinstance(part, dict | list | bool):
            continue
        if visible(text := " ".join(str(part).split())) and "\x00" not in text:
            yield text[:_MAX_VALUE_CHARS]


def _split(value: object) -> Iterator[str]:
    for text in _texts(value):
        yield from (text.split(",") if isinstance(value, str) else [text])
