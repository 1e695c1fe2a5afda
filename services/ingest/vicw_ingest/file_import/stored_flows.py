"""What the store has of the conversations that a file holds whole: an edited branch replaces the one before.

An export shows one branch of a conversation. Of a later export the earlier branch is past: its items are retracted, so
that the old answer does not follow the new question. What both have stays as it is, under the title that it has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import batched

from vicw_ingest.file_import.port import ItemStore
from vicw_readers.records import SourceItem

_IDS_AT_ONCE = 100


class StoredFlows:
    """The stored items of the flows that an import meets, asked for once a flow, and not at all of a new context.

    ``before`` is called with the ids of a flow that was edited, before its past items are retracted.
    """

    def __init__(self, store: ItemStore, before: Callable[[str, frozenset[str]], None]) -> None:
        self._store = store
        self._before = before
        self._new_contexts: dict[str, bool] = {}
        self._names: dict[tuple[str, str], Mapping[str, str]] = {}
        self._met: set[tuple[str, str]] = set()
        self._again: dict[tuple[str, str], SourceItem] = {}
        self.edited: set[tuple[str, str]] = set()
        self.retracted = 0

    def meet(self, record: SourceItem) -> SourceItem:
        """Return the item as it is to be sent, after what its flow has no more was retracted."""
        if record.flow_id is None:
            return record
        key = (record.context, record.flow_id)
        if record.flow_ids is not None:
            if key in self._met:
                self._again[key] = record
            self._met.add(key)
            if not self._is_new(record.context):
                self._replace(key, record, record.flow_ids)
        return self._with_stored_title(record, self._names.get(key, {}))

    def finish(self) -> None:
        """Retract what is past of flows that several files of this import have, when all is stored: the last counts."""
        for key, record in self._again.items():
            self._replace(key, record, record.flow_ids or frozenset())

    def is_edited(self, record: SourceItem) -> bool:
        """Return whether the item is of a flow that has another branch than before."""
        return record.flow_id is not None and (record.context, record.flow_id) in self.edited

    def _is_new(self, context: str) -> bool:
        if context not in self._new_contexts:
            self._new_contexts[context] = self._store.is_new(context)
        return self._new_contexts[context]

    def _replace(self, key: tuple[str, str], record: SourceItem, wanted: frozenset[str]) -> None:
        context, flow = key
        stored = {
            one.id: one for one in self._store.flow_items(context, flow) if one.id and one.source == record.item.source
        }
        past = [item_id for item_id in stored if item_id not in wanted]
        if past:
            self.edited.add(key)
            self._before(context, wanted)
            for ids in batched(past, _IDS_AT_ONCE):
                self._store.retract(context, ids)
            self.retracted += len(past)
        self._names[key] = {item_id: one.name for item_id, one in stored.items()}

    def _with_stored_title(self, record: SourceItem, names: Mapping[str, str]) -> SourceItem:
        """Return the item under the title that it is stored with: another title is no other message.

        The store names an item without a title after its speaker.
        """
        item = record.item
        stored = names.get(item.id or "")
        if stored is None or stored == item.name:
            return record
        title = None if stored == item.speaker else stored
        return replace(record, item=item.model_copy(update={"name": title}))
