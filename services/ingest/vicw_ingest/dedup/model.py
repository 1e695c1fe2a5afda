"""What an item repeats of what is stored."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from vicw_shared.model import Node
from vicw_shared.wire.ingest import IngestRequest, RepeatedItem, Repetition


@dataclass(frozen=True, slots=True)
class DuplicateSource:
    """A stored item that is repeated, and how. Of a copy: the passages (uids, in order) that have its text."""

    item: Node
    how: Repetition
    passages: tuple[str, ...] = ()

    @property
    def to_wire(self) -> RepeatedItem:
        """Return it as the wire has it."""
        return RepeatedItem(uid=self.item.uid, id=self.item.source_id, context=self.item.context, how=self.how)


@dataclass(frozen=True, slots=True)
class Duplicate:
    """What an item repeats, the foremost source first.

    ``rest`` is what it says besides the blocks of an answer; None: its text stays whole. ``nothing_new``: all of it is
    stored, as one memory or in an answer.
    """

    sources: tuple[DuplicateSource, ...]
    rest: str | None = None
    nothing_new: bool = False

    def only(self, live: Collection[str]) -> Duplicate | None:
        """Return it without sources that are gone, by uid; None if it is none without them."""
        sources = tuple(source for source in self.sources if source.item.uid in live)
        if not sources:
            return None if self.rest is None else replace(self, sources=())
        return replace(self, sources=sources)

    def moved(self, back: Mapping[str, Node]) -> Duplicate:
        """Return it with items that are consolidated no more, by their ids, in place of what stood for them."""
        return replace(self, sources=tuple(_moved(source, back) for source in self.sources))


def _moved(source: DuplicateSource, back: Mapping[str, Node]) -> DuplicateSource:
    item = back.get(source.item.source_id or "") if source.item.is_macro else None
    return source if item is None else replace(source, item=item)


type Duplicates = Mapping[int, Duplicate]
"""Echoes by the index of their item in the request."""


def without_duplicates(request: IngestRequest, echoes: Duplicates) -> IngestRequest:
    """Return a request whose texts are without what they repeat: what is read in that is told by its sources."""
    texts = {index: echo.rest for index, echo in echoes.items() if echo.rest is not None}
    if not texts:
        return request
    items = (
        item.model_copy(update={"text": texts[index]}) if index in texts else item
        for index, item in enumerate(request.items)
    )
    return request.model_copy(update={"items": tuple(items)})
