"""Lookup keys of an item for deduplication."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vicw_ingest.dedup import quotations
from vicw_ingest.dedup.quotations import QuotedResult, QuotedSpan
from vicw_shared.model.text_keys import keys_of
from vicw_shared.wire.ingest import Item


@dataclass(frozen=True, slots=True)
class LookupKeys:
    """An item with the keys of its whole text and of its blocks that may repeat a stored item."""

    item: Item
    whole: QuotedSpan
    blocks: Sequence[QuotedResult]

    @classmethod
    def of(cls, item: Item, min_chars: int) -> LookupKeys:
        """Return the keys of an item. ``min_chars`` is the minimum number of characters of a duplicate."""
        text = item.text
        return cls(item, QuotedSpan(0, len(text), keys_of(text)), quotations.blocks(text, min_chars))

    @property
    def block_keys(self) -> Iterator[str]:
        """Keys of the blocks: their texts may come from another context."""
        for block in self.blocks:
            for span in block.texts:
                yield from span.keys
