"""Boundaries of a text at its lines: how well a text is cut in front of each line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

_LINE = re.compile(r"^([^\S\n]*+)(\S[^\n]*)", re.MULTILINE)
_FENCE = re.compile(r"`{3,}|~{3,}")
_HEADING = re.compile(r"(#{1,6})\s")
_BLOCK = re.compile(r"(?:[-*+•]|\d{1,9}[.)])\s|[>|]")
"""Beginning of a list item, a quote, or a row of a table."""
_UNDERLINE = re.compile(r"[|:]?[ \t]*[-=]{2}[-=:| \t\r]*+$")
"""The line under a heading, or under the first row of a table."""
_DEFINITION = re.compile(
    r"@|(?:async )?def\s|class\s|func\s|fn\s|pub\s|impl\s|function\s|export\s|interface\s|struct\s"
)
_NOTE = re.compile(r"@|#|//|/?\*")
"""Beginning of a decorator or comment, which belongs to the line after it."""
_CLOSING = re.compile(r"[)\]}]|(?:else|elif|except|finally|catch|end)\b")
_QUOTES = "\"'”’»」』）)]*_"
_ENDS = (".", "!", "?", "…", "。", "！", "？", "｡")


class Kind(IntEnum):
    """What a boundary is in front of; the best to cut at is the last. Between CONTINUED lines a sentence goes on."""

    CLAUSE = 0
    WORD = 1
    CONTINUED = 2
    SENTENCE = 3
    STATEMENT = 4
    BLOCK = 5
    SECTION = 6


class Boundary(NamedTuple):
    """A place to cut, an offset ``at``. Of two of a kind, the one further out is better (``outdent``), then the later.

    Boundaries sort by how good they are.
    """

    kind: Kind
    outdent: int
    at: int


def line_boundaries(text: str, *, code: bool) -> Iterator[Boundary]:
    """Yield the boundary in front of each line, in order, except blank lines and the first line.

    It is before the line's indentation. In ``code``, indentation decides; else the text is read as Markdown, as which
    plain prose is read, too.
    """
    previous, end, fence = "", 0, ""
    for line in _LINE.finditer(text):
        body = line[2]
        after_blank = line.start() - end > 1
        if code:
            kind = _code_kind(body, previous, after_blank=after_blank, indented=bool(line[1]))
        elif fence:
            kind = Kind.STATEMENT
            if body.startswith(fence) and not body.strip(f"{fence[0]} \t\r"):
                kind, fence = Kind.CONTINUED, ""
        else:
            kind = _markdown_kind(body, previous, after_blank=after_blank)
            if opening := _FENCE.match(body):
                fence = opening[0]
        if end:
            level = heading[1] if (heading := _HEADING.match(body)) and not code else line[1].expandtabs(4)
            yield Boundary(kind, after_blank - 2 * len(level), line.start())
        previous, end = body, line.end()


def _markdown_kind(body: str, previous: str, *, after_blank: bool) -> Kind:
    if _HEADING.match(previous) or previous.rstrip().endswith(":") or _UNDERLINE.match(body):
        return Kind.CONTINUED
    if _HEADING.match(body):
        return Kind.SECTION
    if after_blank or _BLOCK.match(body) or _FENCE.match(body):
        return Kind.BLOCK
    return Kind.SENTENCE if previous.rstrip().rstrip(_QUOTES).endswith(_ENDS) else Kind.CONTINUED


def _code_kind(body: str, previous: str, *, after_blank: bool, indented: bool) -> Kind:
    if _CLOSING.match(body) or (_NOTE.match(previous) and not after_blank):
        return Kind.CONTINUED
    if _DEFINITION.match(body) or (after_blank and not indented):
        return Kind.SECTION
    return Kind.STATEMENT
