"""What of an item is looked up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vicw_ingest.dedup import quotations
from vicw_ingest.dedup.quotations import QuotedResult, QuotedSpan
from vicw_shared.model.text_keys import keys_of
from vicw_shared.wire.ingest import Item


@dataclass(frozen=True, slots=True)
class LookupKeys:
    """An item, all of it, and its blocks that may repeat a memory."""

    item: Item
    whole: QuotedSpan
    blocks: Sequence[QuotedResult]

    @classmethod
    def of(cls, item: Item, least: int) -> LookupKeys:
        """Take an item apart. ``least`` is how many characters are no coincidence."""
        text = item.text
        return cls(item, QuotedSpan(0, len(text), keys_of(text)), quotations.blocks(text, least))

    @property
    def brought(self) -> Iterator[str]:
        """The keys of what may have come from another context: of the blocks."""
        for block in self.blocks:
            for place in block.texts:
                yield from place.keys
