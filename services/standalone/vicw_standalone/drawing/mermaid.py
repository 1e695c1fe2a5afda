"""Writer of Mermaid flowcharts; stored text is escaped so that it can only be a label."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_PLAIN = frozenset(" ,.'/()!?…’‘“”–—")
_LISTING = frozenset(".)")
_NAMED = {'"': "#quot;", "&": "#amp;", "<": "#lt;", ">": "#gt;"}
"""Readable entity codes; Mermaid accepts HTML's names and decimal numbers."""
_BREAK = "<br/>"


@dataclass(frozen=True, slots=True)
class Shape:
    """A kind of box: the brackets around its label, its class and that class's style."""

    name: str
    opening: str
    closing: str
    style: str


@dataclass(frozen=True, slots=True)
class Box:
    """A box; ``label`` is lines of plain text, ``marks`` are further classes."""

    shape: Shape
    label: Sequence[str]
    marks: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class DiagramLine:
    """A line between two boxes, by their indexes; ``label`` is plain text."""

    source: int
    target: int
    label: str = ""
    arrow: str = "-->"


MARKS = {
    "start": "stroke-width:3px",
    "past": "stroke-dasharray:4 3,color:#777777",
}
"""Further classes of a box, with their styles."""


def write(boxes: Sequence[Box], lines: Sequence[DiagramLine]) -> str:
    """Return the flowchart, left to right, in the order given."""
    return "\n".join(_written(boxes, lines)) + "\n"


def _written(boxes: Sequence[Box], lines: Sequence[DiagramLine]) -> Iterator[str]:
    yield "flowchart LR"
    for place, box in enumerate(boxes):
        label = _BREAK.join(map(escape, box.label)) or escape("")
        yield f'    n{place}{box.shape.opening}"{label}"{box.shape.closing}:::{box.shape.name}'
    for line in lines:
        label = f'|"{escape(line.label)}"|' if line.label else ""
        yield f"    n{line.source} {line.arrow}{label} n{line.target}"
    for shape in sorted({box.shape for box in boxes}, key=lambda shape: shape.name):
        yield f"    classDef {shape.name} {shape.style}"
    for mark, style in MARKS.items():
        marked = [f"n{place}" for place, box in enumerate(boxes) if mark in box.marks]
        if marked:
            yield f"    classDef {mark} {style}"
            yield f"    class {','.join(marked)} {mark}"


def escape(text: str) -> str:
    """Return text for a quoted label: letters, digits and a few signs stay, others become entity codes.

    The result has no quotes, tags, directives or Markdown. Control and format characters, which could break a line or
    change its direction, are removed; runs of white space become one space.
    """
    shown = "".join(" " if ch.isspace() else ch for ch in text)
    words = " ".join("".join(ch for ch in shown if not unicodedata.category(ch).startswith("C")).split())
    return "".join(_escaped(ch, words[:place], words[place + 1 :]) for place, ch in enumerate(words)) or "#8203;"


def _escaped(char: str, before: str, behind: str) -> str:
    if char in _LISTING and before.isdecimal():  # "1. x" would be a list
        return f"#{ord(char)};"
    plain = char in _PLAIN or unicodedata.category(char)[0] in "LNM"
    inside = (char == "-" and before[-1:].isalnum()) or (char == ":" and before[-1:].isdecimal())
    within = char == "_" and before[-1:].isalnum() and behind[:1].isalnum()  # inside a word it is no emphasis
    return char if plain or inside or within else _NAMED.get(char, f"#{ord(char)};")
