"""Parse a text with a language's grammar and run its queries, in bounded time."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from vicw_core.code.languages import CodeLanguage, load
from vicw_core.code.model import Bounds
from vicw_shared.text import Span

if TYPE_CHECKING:
    from tree_sitter import Node

_BLOCK = 512
"""Bytes passed to the parser at once: a pattern that tests a name copies a whole block for it."""
_INK = re.compile(rb"[^\r\n]")
_ENDS = re.compile(r"[;{}]")
_LONG_RUN = 2_000
_OPEN_ANGLES = 500
_MOST_BLANKED = 0.5
"""Share of a text that may be left out to read what follows it."""
_CONTINUES, _CONTINUES_MASK = 0x80, 0xC0

Match = dict[str, "list[Node]"]


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed text: its bytes in UTF-8, and the matches of the language's patterns, in the patterns' order.

    ``broken`` is the share of it (0 to 1) in the ``errors`` syntax errors. ``wrong`` are the bytes that were not
    understood, sorted: an error around the whole text still has parts that were.
    """

    language: CodeLanguage
    data: bytes
    matches: tuple[Match, ...]
    broken: float
    errors: int
    wrong: Sequence[tuple[int, int]]

    def written(self, start: int, end: int) -> str:
        """Return the text of these bytes."""
        return self.data[start:end].decode("utf-8", "replace")

    def name(self, node: Node) -> str:
        """Return the text of a node."""
        return self.written(node.start_byte, node.end_byte)

    def spans(self) -> Callable[[int, int], Span]:
        """Return a function that converts byte ranges to character spans."""
        if self.data.isascii():
            return Span
        octets = np.frombuffer(self.data, dtype=np.uint8)
        starts = (octets & _CONTINUES_MASK) != _CONTINUES
        before = np.concatenate([[0], np.cumsum(starts)])
        return lambda start, end: Span(int(before[start]), int(before[end]))


def parse(text: str, language: CodeLanguage, bounds: Bounds) -> Parsed | None:
    """Parse ``text``; None if it takes too long or has a run of thousands of unnamed nodes, thus is no code.

    An error may take what follows with it: if more is defined without the lines that were not understood, that counts.
    """
    text = text[: bounds.characters]
    data = text.encode("utf-8", "replace")  # a lone surrogate is one character there, too
    late = _deadline(bounds.seconds)
    if language.generic and max(part.count("<") for part in _ENDS.split(text)) > _OPEN_ANGLES:
        return None  # each may open type arguments or compare; the parser does not stop in time
    known = language.newer.sub(_blank, data) if language.newer else data
    matches = _matches(known, language, late)
    if matches is None:
        return None
    faults = [node for match in matches for node in match.get("error", ())]
    errors = sorted(node.byte_range for node in faults)
    wrong = sorted(part for node in faults for part in _not_understood(node))
    written = [(start, end) for start, end in wrong if start < end]  # the others are tokens that are missing
    if written and _covered(written) <= _MOST_BLANKED * len(data):
        others = _matches(_without_lines(known, written), language, late)
        if others is not None and _named(others) > _named(matches):
            matches = others
    return Parsed(
        language,
        data,
        tuple(match for match in matches if "error" not in match),
        min(1.0, _covered(errors) / max(len(data), 1)),
        len(errors),
        wrong,
    )


def _matches(data: bytes, language: CodeLanguage, late: Callable[[], bool]) -> list[Match] | None:
    """Return the matches of the language's patterns, in the patterns' order; None as `parse` does."""
    from tree_sitter import Parser, QueryCursor

    grammar, patterns = load(language)
    try:
        tree = Parser(grammar).parse(lambda at, _: data[at : at + _BLOCK], progress_callback=lambda _, __: late())
    except ValueError:  # tree-sitter raises this when the callback stops it
        return None
    if _has_long_run(tree.root_node, late):
        return None
    # Matching takes an alarm, too, but crashes with one (tree-sitter 0.26.1).
    return [match for _, match in sorted(QueryCursor(patterns).matches(tree.root_node), key=itemgetter(0))]


def _named(matches: Sequence[Match]) -> int:
    return sum("name" in match for match in matches)


def _without_lines(data: bytes, wrong: Sequence[tuple[int, int]]) -> bytes:
    """Return the bytes with spaces in the lines in which errors begin: what they take of the next is often right."""
    blanked = bytearray(data)
    reached = -1
    for start, _ in wrong:
        if start > reached:
            first, end = data.rfind(b"\n", 0, start) + 1, data.find(b"\n", start)
            reached = end if end >= 0 else len(data)
            blanked[first:reached] = _INK.sub(b" ", data[first:reached])
    return bytes(blanked)


def _not_understood(error: Node) -> Iterator[tuple[int, int]]:
    """Yield the byte ranges of an error's tokens, without the whole constructs between them."""
    start = end = None
    for child in error.children:
        if child.is_named and child.child_count and not child.is_error:
            if start is not None and end is not None:
                yield start, end
            start = end = None
        else:
            start, end = child.start_byte if start is None else start, child.end_byte
    if start is not None and end is not None:
        yield start, end
    elif not error.child_count:
        yield error.byte_range


def _blank(found: re.Match[bytes]) -> bytes:
    return _INK.sub(b" ", found[0])


def _has_long_run(root: Node, late: Callable[[], bool]) -> bool:
    """Return whether thousands of unnamed nodes follow each other, as in errors only, or time is up.

    Iterating over them takes quadratic time.
    """
    stack = [root]
    while stack:
        children = stack.pop().children
        run = 0
        for child in children if len(children) > _LONG_RUN else ():
            run = 0 if child.is_named else run + 1
            if run > _LONG_RUN:
                return True
        if late():
            return True
        stack += [child for child in children if child.descendant_count > _LONG_RUN]
    return False


def _deadline(seconds: float) -> Callable[[], bool]:
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end


def _covered(ranges: list[tuple[int, int]]) -> int:
    """Return how many bytes the sorted ranges cover; an empty range (a missing token) counts as one byte."""
    total = reached = 0
    for start, end in ranges:
        stop = max(end, start + 1)
        total += max(0, stop - max(start, reached))
        reached = max(reached, stop)
    return total
