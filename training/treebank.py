"""Reading a treebank in CoNLL-U."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vicw_shared.language.relations import RELATIONS
from vicw_shared.language.tagger import TAGS


@dataclass(frozen=True, slots=True)
class Tree:
    """A sentence as people have analysed it. ``heads`` count words from 1; 0 is the root."""

    words: tuple[str, ...]
    tags: tuple[int, ...]
    heads: tuple[int, ...]
    relations: tuple[int, ...]


def read(path: Path, *, longest: int = 120) -> Iterator[Tree]:
    """Yield the trees of a file that have at most ``longest`` words."""
    for block in path.read_text("utf-8").split("\n\n"):
        cells = [line.split("\t") for line in block.split("\n") if line and not line.startswith("#")]
        words = [cell for cell in cells if cell[0].isdigit()]
        if words and len(words) <= longest:
            yield Tree(
                tuple(cell[1] for cell in words),
                tuple(TAGS.index(cell[3]) for cell in words),
                tuple(int(cell[6]) for cell in words),
                tuple(_relation(cell[7]) for cell in words),
            )


_COARSER = {
    "dep": "parataxis",
    "dislocated": "parataxis",
    "goeswith": "flat",
    "list": "parataxis",
    "orphan": "obl",
    "reparandum": "discourse",
    "clf": "nmod",
}


def _relation(name: str) -> int:
    """The registered relation for one of the treebank's, whose finer kinds and rare ones are not told apart."""
    name = name if name in RELATIONS else name.split(":", maxsplit=1)[0]
    return RELATIONS.index(_COARSER.get(name, name))
