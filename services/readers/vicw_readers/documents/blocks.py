"""A document as blocks in reading order, and its sections: the form that pages and word processors share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from vicw_readers.documents.model import DocumentSection


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, list item, table or the like; ``level`` 1 to 9 is that of a heading, 0 any other block.

    Blocks of the same ``group`` stand directly under each other: items of a list, rows of a table.
    """

    text: str
    level: int = 0
    group: str = ""


def sections_of(blocks: Iterable[Block]) -> Iterator[DocumentSection]:
    """Yield the blocks under each heading; the heading begins its text. Headings without text are dropped."""
    trail: list[Block] = []
    body: list[Block] = []
    for block in blocks:
        if block.level:
            yield from _section(trail, body)
            trail = [*(above for above in trail if above.level < block.level), block]
            body = []
        else:
            body.append(block)
    yield from _section(trail, body)


def joined(blocks: Iterable[Block]) -> str:
    """Return the text of blocks, with a blank line between those that are of no group."""
    text = group = ""
    for block in blocks:
        gap = "\n" if block.group and block.group == group else "\n\n"
        text += (gap if text else "") + block.text
        group = block.group
    return text


def _section(trail: list[Block], body: list[Block]) -> Iterator[DocumentSection]:
    heading = trail[-1:]
    if body or heading:
        yield DocumentSection(joined([*heading, *body]), tuple(block.text.replace("\n", " ") for block in trail))
