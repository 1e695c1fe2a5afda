"""Assignment of each line of a source file to one definition, or to the rest of the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vicw_shared.text import visible

REST = -1
COMMENT_STARTS = ("#", "//", "/*", "*", "--", ";;", "@", "[")
"""Also attributes and annotations, which belong to the definition below them."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition with its first and last line, from 0, inclusive. Inner definitions follow outer ones."""

    name: str
    kind: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class OutlinePart:
    """Lines that belong together; ``definition`` is None for the rest. ``line`` is the first one, from 0."""

    definition: Definition | None
    line: int
    text: str


def outline(lines: Sequence[str], definitions: Sequence[Definition]) -> list[OutlinePart]:
    """Return the parts in the order of their first lines; their lines together are the file's.

    A definition takes the comment just above it and the blank lines below it. An outer definition keeps the lines that
    its inner ones leave: a class without its methods. A rest without visible text goes to the nearest part.
    """
    owner = [REST] * len(lines)
    for number, definition in enumerate(definitions):
        _claim(owner, lines, number, definition)
    if not visible("".join(line for line, owner_number in zip(lines, owner, strict=True) if owner_number == REST)):
        _assign_rest(owner)
    members: dict[int, list[int]] = {}
    for n, owner_number in enumerate(owner):
        members.setdefault(owner_number, []).append(n)
    return [
        OutlinePart(
            None if owner_number == REST else definitions[owner_number],
            numbers[0],
            "".join(lines[n] for n in numbers),
        )
        for owner_number, numbers in members.items()
    ]


def _claim(owner: list[int], lines: Sequence[str], number: int, definition: Definition) -> None:
    outer = owner[definition.first]
    first, last = definition.first, definition.last
    while first > 0 and owner[first - 1] == outer and lines[first - 1].lstrip().startswith(COMMENT_STARTS):
        first -= 1
    while last + 1 < len(lines) and owner[last + 1] == outer and not lines[last + 1].strip():
        last += 1
    owner[first : last + 1] = [number] * (last + 1 - first)


def _assign_rest(owner: list[int]) -> None:
    nearest = next((owner_number for owner_number in owner if owner_number != REST), REST)
    for n, owner_number in enumerate(owner):
        if owner_number == REST:
            owner[n] = nearest
        nearest = owner[n]
