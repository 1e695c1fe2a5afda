"""What of an item is looked up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vicw_ingest.echoes import pasting, quoting
from vicw_ingest.echoes.heads import is_bare
from vicw_ingest.echoes.pasting import Run
from vicw_ingest.echoes.quoting import Block, Place
from vicw_shared.model.wording import keys_of
from vicw_shared.wire.ingest import Item


@dataclass(frozen=True, slots=True)
class Parts:
    """An item, all of it, and its parts that may repeat a memory."""

    item: Item
    whole: Place
    blocks: Sequence[Block]
    runs: Sequence[Run]
    quotes: Sequence[Place]

    @classmethod
    def of(cls, item: Item, least: int) -> Parts:
        """Take an item apart. ``least`` is how many characters are no coincidence."""
        text = item.text
        whole = Place(0, len(text), keys_of(text))
        return cls(item, whole, quoting.blocks(text, least), pasting.runs(text, least), quoting.quotes(text, least))

    @property
    def keys(self) -> Iterator[str]:
        """All that is looked up."""
        yield from self.whole.keys
        for place in (*(text for block in self.blocks for text in block.texts), *self.quotes):
            yield from place.keys
        for run in self.runs:
            yield from run.keys

    @property
    def brought(self) -> Iterator[str]:
        """What may have come from another context: what stands behind a head."""
        for block in self.blocks:
            for place in block.texts:
                yield from place.keys
        for run in self.runs:
            if not is_bare(self.item.text[run.opens : run.start]):
                yield from run.keys
