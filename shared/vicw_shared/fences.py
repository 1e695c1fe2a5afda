"""Fenced code blocks of Markdown (CommonMark 0.31, 4.5), at any indentation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
