"""Source code: one item a definition, and one for the rest of the file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from vicw_shared.anchors import Unique
from vicw_shared.domains import CODING
from vicw_shared.text import lines_of
from vicw_standalone.sources.languages import Language, language_of
from vicw_standalone.sources.outline import COMMENT_STARTS, Definition, outline
from vicw_standalone.sources.plain import read_plain
from vicw_standalone.sources.python_code import python_definitions
from vicw_standalone.sources.records import Record, Source, bounded_id, bounded_name

PYTHON_SUFFIXES = {".py", ".pyi", ".pyw"}
_CLOSING = re.compile(r"[})\]]|end\b")
_GOES_ON = ("{", "(", "[", ",")
_MATCHED_CHARS = 400
"""Where a definition begins shows early; a line of a minified file is not searched to its end."""


def read_code(source: Source, text: str) -> Iterator[Record]:
    """Yield a file's definitions and its rest; sections of plain text where it cannot be parsed."""
    lines = lines_of(text)
    definitions = definitions_of(text, lines, PurePosixPath(source.name).suffix.lower())
    if not definitions:
        yield from read_plain(source, text, CODING)
        return
    unique = Unique()
    for part in outline(lines, definitions):
        known = part.definition
        yield source.item(
            {
                "id": bounded_id(f"{source.name}#{unique(known.name)}" if known else source.name),
                "text": part.text,
                "name": bounded_name(known.name if known else source.name),
                "subtype": known.kind if known else "module",
                "source": bounded_id(source.name),
            },
            line=part.line + 1,
            usual_domain=CODING,
        )


def definitions_of(text: str, lines: Sequence[str], suffix: str) -> list[Definition] | None:
    """Return a file's definitions; none, or None, if there is nothing to cut by."""
    if suffix in PYTHON_SUFFIXES:
        return python_definitions(text)
    language = language_of(suffix)
    return matched_definitions(lines, language) if language else None


def matched_definitions(lines: Sequence[str], language: Language) -> list[Definition]:
    """Return the definitions whose first lines the language's patterns match, in order, not overlapping."""
    starts = [(n, start) for n, line in enumerate(lines) if (start := language.start(line[:_MATCHED_CHARS].rstrip()))]
    limits = [*(n for n, _ in starts[1:]), len(lines)]
    return [
        Definition(start.name, start.kind, n, _last(lines, n, limit))
        for (n, start), limit in zip(starts, limits, strict=False)
    ]


def _last(lines: Sequence[str], first: int, limit: int) -> int:
    """Return the line with which a definition ends: a closing bracket or ``end`` at the margin."""
    for n in range(first + 1, limit):
        line = lines[n].rstrip()
        opens_below = n + 1 < limit and lines[n + 1].startswith("{")
        if _CLOSING.match(line) and not line.endswith(_GOES_ON) and not opens_below:
            return n
    if lines[first].rstrip().endswith((";", "}")):
        return first
    while limit - 1 > first and (not (line := lines[limit - 1].lstrip()) or line.startswith(COMMENT_STARTS)):
        limit -= 1  # a comment belongs to what it stands above
    return limit - 1
