"""Properties of a page that Notion exports: the lines below its title."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime

from vicw_core.markdown.front_matter import Property
from vicw_shared.text import lines_of

_PROPERTY = re.compile(r"(?P<key>[^\W\d_][\w /&-]{0,60}): (?P<value>\S.*)")
_TIMES = ("%B %d, %Y %I:%M %p", "%B %d, %Y", "%Y-%m-%d %H:%M", "%Y-%m-%d", "%Y/%m/%d %H:%M", "%Y/%m/%d")
_CREATED = ("created", "created time", "date", "date created")


@dataclass(frozen=True, slots=True)
class NotionProperties:
    """What the lines below the title say; ``time`` is when the page was made."""

    properties: dict[str, Property] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    time: datetime | None = None


def notion_properties(body: str) -> NotionProperties:
    """Return the properties of a page: lines ``Name: value`` after its title and an empty line."""
    lines = [line.strip() for line in lines_of(body)]
    if len(lines) < 3 or not lines[0].startswith("# ") or lines[1]:
        return NotionProperties()
    found: dict[str, str] = {}
    for line in lines[2:]:
        match = _PROPERTY.fullmatch(line)
        if match is None:
            # A paragraph that only begins like a property goes on in the next line, or ends otherwise.
            return _read(found) if not line else NotionProperties()
        found[match["key"].lower()] = match["value"]
    return _read(found)


def _read(found: dict[str, str]) -> NotionProperties:
    tags = tuple(tag.strip() for tag in found.get("tags", "").split(",") if tag.strip())
    times = (_time(found[key]) for key in _CREATED if key in found)
    properties: dict[str, Property] = {key: value for key, value in found.items() if key != "tags"}
    return NotionProperties(properties, tags, next(filter(None, times), None))


def _time(value: str) -> datetime | None:
    for form in _TIMES:
        try:
            return datetime.strptime(value, form)
        except ValueError:
            continue
    return None
