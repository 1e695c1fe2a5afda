"""The payload of a point: filterable fields, and the fields that answer while the graph is down.

It is a cache of the graph (design: "Vectors"); the outbox rewrites it. Instants are milliseconds.
"""

from __future__ import annotations

from datetime import datetime

from vicw_shared.clock import to_ms
from vicw_shared.model import Label
from vicw_shared.model.core5 import LIGHT
from vicw_shared.ports import PendingPoint
from vicw_shared.text import fold_case


def payload_of(point: PendingPoint) -> dict[str, object]:
    """Return the payload of a passage, or of a statement in its place. Fields that are None are left out.

    Tags, bucket and about come from the edges of its item, never from its properties; names are case-folded.
    """
    chunk, item, source = point.chunk, point.item, point.text_source
    assert chunk is not None
    assert item is not None
    instants = {
        "timestamp": source.timestamp,
        "created_at": source.created_at,
        "retired_at": _first(item.retired_at, chunk.retired_at),
        "valid_to": _first(item.valid_to, chunk.valid_to),
        "expires_at": item.expires_at,
    }
    fields: dict[str, object] = {
        "tenant": item.tenant,
        "context": item.context,
        "domain": item.domain,
        "label": chunk.label.value,
        "subtype": source.subtype if chunk.label is Label.CHUNK else chunk.subtype,
        "node_id": chunk.uid,
        "item": item.uid,
        "item_label": item.label.value,
        "flow_id": item.flow_id,
        "tags": [fold_case(tag) for tag in point.tags] or None,
        "bucket": [fold_case(bucket) for bucket in point.buckets] or None,
        "sensitivity": item.sensitivity.value,
        "portable": int(item.portable),  # not a boolean: Edge cannot match one
        "about": [fold_case(name) for name in point.about] or None,
        "source_id": source.source_id,
        "name": source.name,
        "text": chunk.text,
        "importance": source.importance,
        LIGHT: 1 if chunk.is_light else None,
        **{field: to_ms(instant) for field, instant in instants.items() if instant is not None},
    }
    return {field: value for field, value in fields.items() if value is not None}


def _first(*instants: datetime | None) -> datetime | None:
    """Return the earliest known instant: a statement may end before its item does."""
    return min((instant for instant in instants if instant is not None), default=None)
