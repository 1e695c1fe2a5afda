"""The front matter of a page: YAML between ``---`` lines or TOML between ``+++`` lines."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from vicw_shared.text import lines_of, visible

_KEY = re.compile(r"^(?=[\w.-]+\s*:)", re.MULTILINE)
_MAX_LINES = 500
_MAX_CHARS = 20_000
_MAX_VALUES = 64
_MAX_VALUE_CHARS = 200


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """Parsed front matter. ``lines`` is the number of lines that it occupies in the file; ``key`` is its ``id``."""

    lines: int = 0
    title: str | None = None
    key: str | None = None
    description: str | None = None
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


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
            values = _values(block, fence)
            if values is None and _KEY.match(block):
                values = _by_key(block)
            return FrontMatter() if values is None else _front_matter(number + 1, values)
    return FrontMatter()


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


def _by_key(block: str) -> dict[str, Any]:
    """Parse an invalid block key by key; a value that does not parse becomes plain text."""
    values: dict[str, Any] = {}
    for part in _KEY.split(block)[1:]:
        key, _, value = part.partition(":")
        value = value.strip()
        plain = value.strip("[]") if value[:1].isalnum() or value[:1] in "[\"'#" else None
        values |= _values(part, "---") or {key.strip().lower(): plain}
    return values


def _front_matter(lines: int, values: dict[str, Any]) -> FrontMatter:
    aliases = [*_texts(values.get("aliases")), *_texts(values.get("alias"))]
    tags = (tag.removeprefix("#").strip() for tag in _split(values.get("tags", values.get("keywords"))))
    return FrontMatter(
        lines,
        title=next(_texts(values.get("title")), None),
        key=next(_texts(values.get("id")), None),
        description=next(_texts(values.get("description", values.get("summary"))), None),
        aliases=tuple(dict.fromkeys(aliases))[:_MAX_VALUES],
        tags=tuple(dict.fromkeys(filter(None, tags)))[:_MAX_VALUES],
    )


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
