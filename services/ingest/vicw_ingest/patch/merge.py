"""Merge items of a request into stored ones before anything else is done with them (JSON Merge Patch, RFC 7396).

What comes of it is a whole item, and goes the way of any other. The stored version that it was merged into is compared
once more inside the transaction that stores it: a request that changed the item meanwhile is never overwritten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from vicw_ingest.patch.bases import MergeBase, Merged
from vicw_ingest.patch.stored_item import StoredItem, read_stored_item
from vicw_ingest.versions.item_lookup import items_by_uid
from vicw_ingest.versions.restore import stored_versions
from vicw_shared.errors import FieldProblem, InvalidInputError, VersionMismatchError
from vicw_shared.model import Node
from vicw_shared.ports import GraphStore, GraphTransaction
from vicw_shared.uids import context_uid, is_uid
from vicw_shared.wire.ingest import IngestRequest, Item

_NO_TEXT = "-"
"""Text of the item that a patch is applied to where nothing is stored."""


async def merge_items(
    request: IngestRequest, tenant: str, graph: GraphStore, now: datetime, expected: Sequence[int] | None = None
) -> Merged:
    """Merge the items with ``merge`` into the stored ones.

    ``expected``: versions that the only item may have, None for any. Raises InvalidInputError for a patch without a
    text of an item that is not stored, VersionMismatchError for another version than expected.
    """
    indexes = [index for index, item in enumerate(request.items) if item.merge]
    if not indexes:
        return Merged(request)
    _require_patches(request, indexes)
    stored: dict[str, StoredItem] = {}
    if await graph.nodes(tenant, [context_uid(tenant, request.context)]):
        ids = [request.items[index].id or "" for index in indexes]

        async def read(transaction: GraphTransaction) -> dict[str, StoredItem]:
            nodes = await named_items(transaction, request.context, ids)
            live = {key: node for key, node in nodes.items() if node.retired_at is None}
            return {key: await read_stored_item(transaction, node, now) for key, node in live.items()}

        stored = await graph.write(tenant, request.context, read)
    items, bases = list(request.items), dict[int, MergeBase | None]()
    for index in indexes:
        base = stored.get(items[index].id or "")
        if expected is not None and (base is None or base.node.version not in expected):
            has = f"has version {base.node.version}" if base is not None else "is not stored any more"
            raise VersionMismatchError(f"If-Match: the item {has}. Read it again, and send the patch for that")
        items[index] = _merge(base.item if base is not None else None, items[index])
        bases[index] = MergeBase(base.node, items[index] == base.item) if base is not None else None
        if not items[index].text:
            raise InvalidInputError(_without_text(index, stored=base is not None))
    return Merged(request.model_copy(update={"items": tuple(items)}), bases)


async def named_items(transaction: GraphTransaction, context: str, ids: Sequence[str]) -> dict[str, Node]:
    """Return the latest versions of a context's items by id, or by the uid of an item without an id; read-only."""
    named = await stored_versions(transaction, ids)
    uids = [key for key in ids if key not in named and is_uid(key)]
    items = await items_by_uid(transaction.nodes, uids, context)
    return {uid: node for uid, node in items.items() if node.source_id is None} | named


def _require_patches(request: IngestRequest, indexes: Sequence[int]) -> None:
    problems = [
        FieldProblem(f"items[{index}].id", "is missing", "Name the item that `merge` changes")
        for index in indexes
        if request.items[index].id is None
    ]
    if problems:
        raise InvalidInputError(*problems[:20])


def _without_text(index: int, *, stored: bool) -> FieldProblem:
    if stored:
        return FieldProblem(f"items[{index}].text", "is missing", "An item needs a text")
    return FieldProblem(
        f"items[{index}].id", "names no stored item to merge into", "Send the item whole, with its text"
    )


def _merge(base: Item | None, patch: Item) -> Item:
    """Return the whole item; a stored one with the same values as ``base`` equals it."""
    whole = base or Item(id=patch.id, text=_NO_TEXT)
    given = (patch.model_fields_set | patch.removed) - {"id", "merge"}
    changes: dict[str, Any] = {name: getattr(patch, name) for name in given}
    if "metadata" in patch.model_fields_set:
        changes["metadata"] = _merge_patch(whole.metadata, patch.metadata)
    if base is None:
        changes.setdefault("text", "")
    return whole.model_copy(update=changes)


def _merge_patch(target: Any, patch: Any) -> Any:
    """Return ``target`` with a JSON Merge Patch applied (RFC 7396, section 2)."""
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(target) if isinstance(target, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = _merge_patch(merged.get(name), value)
    return merged
