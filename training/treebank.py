"""Reading a treebank in CoNLL-U."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vicw_english.tagging.tagger import TAGS


@dataclass(frozen=True, slots=True)
class Tagged:
    """A sentence as people have tagged it."""

    words: tuple[str, ...]
    tags: tuple[int, ...]


def read(path: Path, *, longest: int = 120) -> Iterator[Tagged]:
    """Yield the sentences of a file that have at most ``longest`` words."""
    for block in path.read_text("utf-8").split("\n\n"):
        cells = [line.split("\t") for line in block.split("\n") if line and not line.startswith("#")]
        words = [cell for cell in cells if cell[0].isdigit()]
        if words and len(words) <= longest:
            yield Tagged(tuple(cell[1] for cell in words), tuple(TAGS.index(cell[3]) for cell in words))
