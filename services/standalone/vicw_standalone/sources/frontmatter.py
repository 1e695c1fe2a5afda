"""The front matter of a markdown file: YAML between ``---`` lines or TOML between ``+++`` lines.

Only title and tags are taken, in the few shapes in which people write them; a YAML parser would be a dependency
for two keys.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass

from vicw_shared.text import lines_of

_KEY = re.compile(r"(?P<key>tags|title)\s*:(?P<value>.*)", re.IGNORECASE)
_ENTRY = re.compile(r"\s*-\s+(?P<value>.*)")
_ANY_KEY = re.compile(r"#|[\w.-]+\s*:", re.ASCII)
_MAX_LINES = 500
_MAX_TAGS = 64


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What was found; ``lines`` is how many lines of the file it takes up."""

    lines: int = 0
    title: str | None = None
    tags: tuple[str, ...] = ()


def front_matter(text: str) -> FrontMatter:
    """Return the front matter at the start of ``text``; without one, an empty FrontMatter."""
    lines = lines_of(text)
    fence = lines[0].rstrip() if lines else ""
    if fence not in {"---", "+++"}:
        return FrontMatter()
    first = next((line for line in lines[1:] if line.strip()), "")
    if fence == "---" and not _ANY_KEY.match(first) and first.rstrip() != fence:
        return FrontMatter()  # a rule across the page, not front matter
    for n, line in enumerate(lines[1:_MAX_LINES], 1):
        if line.rstrip() == fence or (fence == "---" and line.rstrip() == "..."):
            read = _toml if fence == "+++" else _yaml
            title, tags = read([part.rstrip("\r\n") for part in lines[1:n]])
            clean = (_unquoted(tag).removeprefix("#").strip() for tag in tags)
            return FrontMatter(n + 1, title, tuple(dict.fromkeys(tag for tag in clean if tag))[:_MAX_TAGS])
    return FrontMatter()


def _toml(lines: list[str]) -> tuple[str | None, list[str]]:
    try:
        found = tomllib.loads("\n".join(lines))
    except tomllib.TOMLDecodeError:
        return None, []
    title, tags = found.get("title"), found.get("tags")
    return (
        title if isinstance(title, str) else None,
        [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else [],
    )


def _yaml(lines: list[str]) -> tuple[str | None, list[str]]:
    title: str | None = None
    tags: list[str] = []
    in_tags = False
    for line in lines:
        if key := _KEY.match(line):
            value = key["value"].strip()
            in_tags = key["key"].lower() == "tags"
            if in_tags:
                tags += value.strip("[]").split(",")
            else:
                title = _unquoted(value) or None
        elif in_tags and (entry := _ENTRY.match(line)):
            tags.append(entry["value"])
        elif line.strip() and not line[0].isspace():
            in_tags = False
    return title, tags


def _unquoted(value: str) -> str:
    value = value.strip()
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value
