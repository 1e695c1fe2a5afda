"""Rendering of items on the wire."""

from __future__ import annotations

from typing import Any

from vicw_core.filters.predicate import told_at
from vicw_shared.clock import from_us
from vicw_shared.model import Node
from vicw_shared.ports import Scope
from vicw_shared.wire.items import ListedItem, NamedThing


def listed_item(item: Node, text: str | None, scope: Scope) -> ListedItem:
    """Return an item with its own fields."""
    return ListedItem(**item_fields(item, text, scope))


def item_fields(item: Node, text: str | None, scope: Scope) -> dict[str, Any]:
    """Return the fields of an item."""
    return {
        "uid": item.uid,
        "id": item.source_id,
        "context": item.context,
        "domain": item.domain,
        "label": item.label,
        "subtype": item.subtype,
        "name": item.name,
        "version": item.version,
        "text": text,
        "speaker": item.speaker,
        "source": item.source,
        "flow_id": item.flow_id,
        "flow_step": item.flow_step if scope.audience is None else None,
        "tags": item.tags,
        "bucket": item.bucket,
        "metadata": {} if item.is_macro else dict(item.metadata),
        "sensitivity": item.sensitivity,
        "portable": item.portable,
        "importance": item.importance,
        "protected": item.protected,
        "told_at": from_us(told_at(item)),
        "timestamp": item.timestamp,
        "timestamp_inferred": item.timestamp_inferred,
        "created_at": item.created_at,
        "expires_at": item.expires_at,
        "valid_to": item.valid_to,
        "superseded_at": item.superseded_at,
        "retired_at": item.retired_at,
    }


def named_thing(node: Node) -> NamedThing:
    """Return a node by its name."""
    return NamedThing(uid=node.uid, label=node.label, subtype=node.subtype, name=node.name)
