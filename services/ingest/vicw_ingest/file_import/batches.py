"""Batches of items for requests: one context and domain each, bounded, in order within a flow.

Batches depend on the records alone, so that a second run makes the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from vicw_readers.records import Record, Refused, Report, SourceItem

_OPEN_AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class ItemBatch:
    """Items of one context and domain, in reading order; never empty."""

    context: str
    domain: str | None
    items: tuple[SourceItem, ...]

    @property
    def flows(self) -> frozenset[tuple[str, str]]:
        """The flows that the items belong to, each with its context."""
        return frozenset((self.context, record.flow_id) for record in self.items if record.flow_id)


@dataclass(slots=True)
class _Open:
    items: list[SourceItem] = field(default_factory=list)
    flows: set[str] = field(default_factory=set)
    ids: set[str | None] = field(default_factory=set)
    chars: int = 0

    def add(self, record: SourceItem) -> None:
        self.items.append(record)
        self.chars += len(record.item.text)
        self.ids.add(record.item.id)
        if record.flow_id:
            self.flows.add(record.flow_id)


type _Key = tuple[str, str | None]


def batched(
    records: Iterable[Record],
    report: Callable[[Report], None],
    *,
    max_items: int,
    max_chars: int,
) -> Iterator[ItemBatch]:
    """Yield the items in batches; an item longer than ``max_chars`` is alone in its batch. ``report`` gets the rest.

    A second item with the id of an earlier one in its context is refused as ambiguous, unless it says the same, or is
    of a conversation that a later export has once more.
    """
    open_batches: dict[_Key, _Open] = {}
    seen: dict[int, int] = {}  # hashes: a million ids must not cost a gigabyte
    flows: set[int] = set()
    exported_again: set[int] = set()
    for record in records:
        if not isinstance(record, SourceItem):
            report(record)
            continue
        item, flow = record.item, hash((record.context, record.flow_id))
        if record.flow_ids is not None:
            (exported_again if flow in flows else flows).add(flow)
        if item.id is not None:
            identity = hash((record.context, item.id))
            # Not its flow: threads are found in each file, and a message may be in two.
            said = hash((item.text, item.speaker, item.timestamp))
            before = seen.get(identity)
            if before == said and record.flow_ids is None:
                continue
            if before is not None and before != said and flow not in exported_again:
                report(_duplicate(record))
                continue
            seen[identity] = said
        key = (record.context, record.domain)
        for due in _due(open_batches, key, record, max_items, max_chars):
            yield _closed(due, open_batches.pop(due))
        open_batches.setdefault(key, _Open()).add(record)
    for key, batch in open_batches.items():
        yield _closed(key, batch)


def _due(opened: dict[_Key, _Open], key: _Key, record: SourceItem, max_items: int, max_chars: int) -> list[_Key]:
    """Return the batches to send before ``record`` is added, the oldest first."""
    due = [
        other
        for other, batch in opened.items()
        # A flow that changes its domain must still arrive in order.
        if other != key and other[0] == record.context and record.flow_id in batch.flows
    ]
    current = opened.get(key)
    if current and (
        len(current.items) >= max_items
        or current.chars + len(record.item.text) > max_chars
        or (record.item.id is not None and record.item.id in current.ids)
    ):
        due.append(key)
    elif not current and not due and len(opened) >= _OPEN_AT_ONCE:
        due.append(next(iter(opened)))
    return due


def _closed(key: _Key, batch: _Open) -> ItemBatch:
    return ItemBatch(key[0], key[1], tuple(batch.items))


def _duplicate(record: SourceItem) -> Refused:
    return Refused(
        record.path,
        record.line,
        f"the id {record.item.id!r} was already used in the context {record.context!r} by this import",
    )
