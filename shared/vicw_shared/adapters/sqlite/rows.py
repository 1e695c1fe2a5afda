"""Nodes and edges as rows, and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from vicw_shared.clock import from_us, to_us
from vicw_shared.model import Edge, Node
from vicw_shared.model.core5 import LABELS, OF_NOBODY, PART, SENSITIVITIES
from vicw_shared.ports import ItemRef

NODE_COLUMNS = (
    "uid, label, tenant, context, name, subtype, domain, created_at, qdrant_id, text, speaker, source, source_id, "
    "version, content_hash, tags, bucket, metadata, timestamp, timestamp_inferred, retired_at, valid_to, expires_at, "
    "flow_id, flow_step, own_step, arrival, sensitivity, portable, importance, protected, indexed, title, "
    "aliases, trigger_phrases, text_key"
)
NODE_WIDTH = NODE_COLUMNS.count(",") + 1
STATEMENT = "{0}.label = 'Event' AND {0}.qdrant_id = {0}.uid"
"""What tells a statement from other events, whatever a caller calls those: a point of its own."""
ITEM_COLUMNS = (
    "i.uid, i.label, i.context, i.domain, i.speaker, i.importance, "
    "i.created_at, i.timestamp, i.retired_at, i.valid_to, i.expires_at, i.version"
)
"""What ranking needs of an item ``i``."""
PART_COLUMNS = (
    f"json_extract(k.metadata, '$.{PART}'), "
    "k.speaker, k.created_at, k.timestamp, k.retired_at, k.valid_to, k.expires_at"
)
"""What the passage ``k`` of a folded item knows of the item."""
EDGE_COLUMNS = "id, type, source, target, weight, created_at, created_by, properties"


def columns_of(alias: str) -> str:
    """Return the node columns qualified by a table alias."""
    return ", ".join(f"{alias}.{column.strip()}" for column in NODE_COLUMNS.split(","))


def pack(uid: str) -> bytes:
    """Return a uid's 16 bytes: half the size of its text in every index."""
    return bytes.fromhex(uid.replace("-", ""))


def unpack(raw: bytes) -> str:
    """Undo ``pack``."""
    h = raw.hex()
    return f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"


def marks(count: int) -> str:
    """Return ``count`` question marks for an IN list."""
    return ",".join("?" * count)


def item_ref(row: Sequence[Any]) -> ItemRef:
    """Read ITEM_COLUMNS."""
    uid, label, context, domain, speaker, importance, created_at, *instants, version = row
    timestamp, retired_at, valid_to, expires_at = map(from_us, instants)
    return ItemRef(
        uid=unpack(uid),
        label=LABELS[label],
        context=context,
        domain=domain,
        speaker=speaker,
        importance=importance,
        created_at=from_us(created_at),
        timestamp=timestamp,
        retired_at=retired_at,
        valid_to=valid_to,
        expires_at=expires_at,
        is_macro=version == OF_NOBODY,
    )


def part_of(macro: ItemRef, row: Sequence[Any]) -> ItemRef:
    """Read PART_COLUMNS of a passage that a Macro-Event has: the folded item, or the Macro-Event if it is its own."""
    part, speaker, created_at, *instants = row
    if part is None:
        return macro
    timestamp, retired_at, valid_to, expires_at = map(from_us, instants)
    return replace(
        macro,
        part=part,
        speaker=speaker,
        created_at=from_us(created_at),
        timestamp=timestamp,
        retired_at=retired_at,
        valid_to=valid_to,
        expires_at=expires_at,
    )


def node_row(node: Node) -> tuple[Any, ...]:
    """Return the values of NODE_COLUMNS."""
    return (
        pack(node.uid),
        node.label.value,
        node.tenant,
        node.context,
        node.name,
        node.subtype,
        node.domain,
        to_us(node.created_at),
        pack(node.qdrant_id) if node.qdrant_id else None,
        node.text,
        node.speaker,
        node.source,
        node.source_id,
        node.version,
        node.content_hash,
        _dump(node.tags) if node.tags else "[]",
        node.bucket,
        _dump(node.metadata) if node.metadata else "{}",
        to_us(node.timestamp),
        node.timestamp_inferred,
        to_us(node.retired_at),
        to_us(node.valid_to),
        to_us(node.expires_at),
        node.flow_id,
        node.flow_step,
        node.own_step,
        node.arrival,
        node.sensitivity.value,
        node.portable,
        node.importance,
        node.protected,
        node.indexed,
        node.title,
        _dump(node.aliases) if node.aliases else "[]",
        _dump(node.trigger_phrases) if node.trigger_phrases else "[]",
        node.text_key,
    )


def node_of(row: Sequence[Any]) -> Node:
    """Undo ``node_row``."""
    return Node(
        uid=unpack(row[0]),
        label=LABELS[row[1]],
        tenant=row[2],
        context=row[3],
        name=row[4],
        subtype=row[5],
        domain=row[6],
        created_at=from_us(row[7]),
        qdrant_id=unpack(row[8]) if row[8] else None,
        text=row[9],
        speaker=row[10],
        source=row[11],
        source_id=row[12],
        version=row[13],
        content_hash=row[14],
        tags=tuple(json.loads(row[15])) if row[15] != "[]" else (),
        bucket=row[16],
        metadata=json.loads(row[17]) if row[17] != "{}" else {},
        timestamp=from_us(row[18]),
        timestamp_inferred=bool(row[19]),
        retired_at=from_us(row[20]),
        valid_to=from_us(row[21]),
        expires_at=from_us(row[22]),
        flow_id=row[23],
        flow_step=row[24],
        own_step=row[25],
        arrival=row[26],
        sensitivity=SENSITIVITIES[row[27]],
        portable=bool(row[28]),
        importance=row[29],
        protected=bool(row[30]),
        indexed=bool(row[31]),
        title=row[32],
        aliases=tuple(json.loads(row[33])) if row[33] != "[]" else (),
        trigger_phrases=tuple(json.loads(row[34])) if row[34] != "[]" else (),
        text_key=row[35],
    )


def edge_row(edge: Edge, source: int, target: int) -> tuple[Any, ...]:
    """Return the values of EDGE_COLUMNS, the ends given as node keys."""
    properties = _dump(edge.properties) if edge.properties else "{}"
    return (
        pack(edge.id),
        edge.type,
        source,
        target,
        edge.weight,
        to_us(edge.created_at),
        edge.created_by,
        properties,
    )


def edge_of(row: Sequence[Any]) -> Edge:
    """Read EDGE_COLUMNS whose source and target are packed uids."""
    return edge_between((unpack(row[2]), unpack(row[3])), (*row[:2], *row[4:]))


def edge_between(ends: tuple[str, str], row: Sequence[Any]) -> Edge:
    """Read EDGE_COLUMNS without source and target, which are ``ends``."""
    return Edge(
        id=unpack(row[0]),
        type=row[1],
        source=ends[0],
        target=ends[1],
        weight=row[2],
        created_at=from_us(row[3]),
        created_by=row[4],
        properties=json.loads(row[5]) if row[5] != "{}" else {},
    )


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
