"""Duplicates and their stored sources."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from vicw_shared.model import Node
from vicw_shared.wire.ingest import IngestRequest, RepeatedItem, Repetition


@dataclass(frozen=True, slots=True)
class DuplicateSource:
    """A repeated stored item, and how it is repeated. For a copy: the passages (uids, in order) with its text."""

    item: Node
    how: Repetition
    passages: tuple[str, ...] = ()

    @property
    def to_wire(self) -> RepeatedItem:
        """Return the source in wire form."""
        return RepeatedItem(uid=self.item.uid, id=self.item.source_id, context=self.item.context, how=self.how)


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The sources that an item repeats, most important first.

    ``rest`` is its text without the repeated blocks of an answer; None: the text stays whole. ``nothing_new``: the
    whole text repeats a stored item or an answer.
    """

    sources: tuple[DuplicateSource, ...]
    rest: str | None = None
    nothing_new: bool = False

    def only(self, live: Collection[str]) -> Duplicate | None:
        """Return the duplicate with only the ``live`` sources (uids), or None if it is none without the others."""
        sources = tuple(source for source in self.sources if source.item.uid in live)
        if not sources:
            return None if self.rest is None else replace(self, sources=())
        return replace(self, sources=sources)

    def with_restored(self, restored: Mapping[str, Node]) -> Duplicate:
        """Return the duplicate with restored items, by their ids, in place of their Macro-Events."""
        return replace(self, sources=tuple(_with_restored(source, restored) for source in self.sources))


def _with_restored(source: DuplicateSource, restored: Mapping[str, Node]) -> DuplicateSource:
    item = restored.get(source.item.source_id or "") if source.item.is_macro else None
    return source if item is None else replace(source, item=item)


type Duplicates = Mapping[int, Duplicate]
"""Duplicates by the index of their item in the request."""


def without_duplicates(request: IngestRequest, duplicates: Duplicates) -> IngestRequest:
    """Return the request without repeated texts: their facts are already extracted from their sources."""
    texts = {index: duplicate.rest for index, duplicate in duplicates.items() if duplicate.rest is not None}
    if not texts:
        return request
    items = (
        item.model_copy(update={"text": texts[index]}) if index in texts else item
        for index, item in enumerate(request.items)
    )
    return request.model_copy(update={"items": tuple(items)})
