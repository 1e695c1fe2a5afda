"""Selection of text blocks: chosen by worth until the budget is full, written in reading order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from vicw_retrieval.synthesis.meter import TextMeter


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A piece of the text: the result that it belongs to, by rank, and its number there; 0 is the result itself."""

    rank: int
    number: int
    text: str


@dataclass(slots=True)
class TextPage:
    """Blocks chosen up to ``size``, in the meter's unit.

    ``shortened`` are the ranks of results that are in it in part; ``lines`` how many lines of each had no room.
    """

    meter: TextMeter
    size: int
    chosen: list[TextBlock] = field(default_factory=list)
    shortened: set[int] = field(default_factory=set)
    lines: Counter[int] = field(default_factory=Counter)

    @property
    def room(self) -> int:
        """The room for one more block, its line break included."""
        return self.size - sum(self._cost(block) for block in self.chosen) + (1 if self.chosen else 0)

    @property
    def ranks(self) -> frozenset[int]:
        """The ranks of the results in it."""
        return frozenset(block.rank for block in self.chosen if block.number == 0)

    def begin(self, block: TextBlock) -> None:
        """Add a block in any case, cut if it is too long."""
        text = self.meter.cut(block.text, self.room)
        self.chosen.append(TextBlock(block.rank, block.number, text))
        if text != block.text:
            self.shortened.add(block.rank)

    def fill(self, blocks: Iterable[TextBlock], share: float = 1.0) -> list[TextBlock]:
        """Add blocks in order while they fit into a share of the whole page; return those added."""
        room = self.room - int(self.size * (1 - share))
        taken = []
        for block in blocks:
            cost = self._cost(block)
            if cost <= room:
                taken.append(block)
                room -= cost
        self.chosen += taken
        return taken

    def _cost(self, block: TextBlock) -> int:
        return self.meter.size(block.text) + 1

    def text(self, places: Mapping[int, tuple[int, int]]) -> str:
        """Return the page: blocks in the place of their result, by number."""
        ordered = sorted(self.chosen, key=lambda block: (places[block.rank], block.number))
        return "\n".join(block.text for block in ordered)
