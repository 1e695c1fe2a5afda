"""Fenced code blocks of Markdown (CommonMark 0.31, 4.5), at any indentation, to analyse code and prose separately."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from vicw_shared.text import Span, lines_of

_FENCE = re.compile(r"\s*(?P<fence>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)")


@dataclass(frozen=True, slots=True)
class FencedLines:
    """A fenced block: its first line, the line after its last (from 0), whether it is closed, its info string."""

    first: int
    stop: int
    closed: bool
    info: str


def fenced_lines(lines: Sequence[str]) -> Iterator[FencedLines]:
    """Yield the fenced blocks of these lines, fences included. An unclosed block extends to the end."""
    first, fence, info = -1, "", ""
    for n, raw in enumerate(lines):
        line = raw.rstrip("\r\n")
        mark = _FENCE.match(line)
        if not mark:
            continue
        if not fence:
            first, fence, info = n, mark["fence"], mark["info"].strip()
        elif mark["fence"].startswith(fence) and not line.strip().strip(fence[0]):
            yield FencedLines(first, n + 1, True, info)
            fence = ""
    if fence:
        yield FencedLines(first, len(lines), False, info)


_MAX_INFO = 200
_PATH = re.compile(r"(?:^|[\s:=\"'])(?P<path>[\w@./\\-]*\w\.[A-Za-z]\w{0,9})(?=[\"'\s}]|$)")
_VISIBLE = re.compile(r"\S")


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced block. In the graph: the results of ``analyse_code`` and ``parse_traces``, ``MENTIONS`` from the item.

    ``span`` includes the fences, ``code`` only the lines between them, both in characters of the text; add
    ``code.start`` to an offset in ``text[code.start : code.end]`` to get one in the text. ``info`` is the info string
    (``python``, ``ts title=a.ts``), or ``""``: the ``language`` of ``analyse_code``.
    ``path`` is the file that the info names (``title=a.ts``, ``src/a.ts``, ``12:20:src/a.ts``), or None.
    """

    span: Span
    code: Span
    info: str
    path: str | None


def fences(text: str) -> Iterator[Fence]:
    """Yield the fenced blocks in order; an unclosed block extends to the end of the text."""
    lines = lines_of(text)
    starts = [0, *accumulate(map(len, lines))]
    for block in fenced_lines(lines):
        last = block.stop - 1 if block.closed else block.stop
        path = _PATH.search(block.info[:_MAX_INFO])
        yield Fence(
            Span(starts[block.first], starts[block.stop]),
            Span(starts[block.first + 1], max(starts[last], starts[block.first + 1])),
            block.info,
            path["path"] if path else None,
        )


def blank_out(text: str, spans: Sequence[Span]) -> str:
    """Return ``text`` with these spans blanked; length and offsets stay the same."""
    parts = []
    reached = 0
    for span in sorted(spans, key=lambda span: span.start):
        start = max(span.start, reached)
        if span.end > start:
            parts += [text[reached:start], _VISIBLE.sub(" ", text[start : span.end])]
            reached = span.end
    return "".join([*parts, text[reached:]])
