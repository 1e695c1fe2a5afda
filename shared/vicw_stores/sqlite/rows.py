"""Conversion of nodes and edges to rows and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from vicw_shared.clock import from_us, to_us
from vicw_shared.model import Edge, Node
from vicw_shared.model.core5 import CONSOLIDATED_ITEM, LABELS, SENSITIVITIES, SYSTEM_VERSION
from vicw_shared.ports import ItemRef

NODE_COLUMNS = (
    "uid, label, tenant, context, name, subtype, domain, created_at, qdrant_id, text, speaker, source, source_id, "
    "version, content_hash, tags, bucket, metadata, timestamp, timestamp_inferred, retired_at, valid_to, "
    "superseded_at, expires_at, flow_id, flow_step, own_step, arrival, sensitivity, portable, importance, protected, "
    "indexed, title, aliases, trigger_phrases, text_key"
)
NODE_WIDTH = NODE_COLUMNS.count(",") + 1
STATEMENT = "{0}.label = 'Event' AND {0}.qdrant_id = {0}.uid"
"""Condition for a statement: unlike any other Event, it has a point of its own."""
ITEM_COLUMNS = (
    "i.uid, i.label, i.context, i.domain, i.created_at, i.speaker, i.importance, "
    "i.timestamp, i.retired_at, i.valid_to, i.superseded_at, i.expires_at, i.version"
)
"""Columns of an item ``i`` that ranking needs."""
PART_COLUMNS = (
    f"json_extract(k.metadata, '$.{CONSOLIDATED_ITEM}'), "
    "k.speaker, k.created_at, k.timestamp, k.retired_at, k.valid_to, k.superseded_at, k.expires_at"
)
"""Columns of a consolidated item that its passage ``k`` keeps."""
_PLACES = {column: place for place, column in enumerate(NODE_COLUMNS.split(", "))}
_UIDS = [_PLACES[name] for name in ("uid", "qdrant_id")]
_TIMES = [
    _PLACES[name] for name in ("created_at", "timestamp", "retired_at", "valid_to", "superseded_at", "expires_at")
]
_FLAGS = [_PLACES[name] for name in ("timestamp_inferred", "portable", "protected", "indexed")]
_LISTS = [_PLACES[name] for name in ("tags", "aliases", "trigger_phrases")]
_LABEL, _SENSITIVITY, _METADATA = (_PLACES[name] for name in ("label", "sensitivity", "metadata"))
_to_us = lru_cache(1024)(to_us)
"""The rows of one write have few instants: most are that of the write."""
EDGE_COLUMNS = "id, type, source, target, weight, created_at, created_by, properties"


def _constructor[T](kind: type[T], fields: str) -> Callable[[Iterable[Any]], T]:
    """Return a constructor of ``kind`` from the values of its ``fields``: all of its fields, in this order.

    The constructor of a frozen dataclass sets each field by a call that looks it up by name, which takes most of the
    time of reading a row (11 of 19 µs of a node); a question reads hundreds of rows.
    """
    setters = [getattr(kind, name).__set__ for name in fields.split(", ")]

    def make(values: Iterable[Any]) -> T:
        made = object.__new__(kind)
        for put, value in zip(setters, values, strict=True):
            put(made, value)
        return made

    return make


_new_node = _constructor(Node, NODE_COLUMNS)
_new_edge = _constructor(Edge, EDGE_COLUMNS)
_new_item = _constructor(
    ItemRef,
    "uid, label, context, domain, created_at, speaker, importance, "
    "timestamp, retired_at, valid_to, superseded_at, expires_at, is_macro, part",
)


def columns_of(alias: str) -> str:
    """Return the node columns qualified by a table alias."""
    return ", ".join(f"{alias}.{column.strip()}" for column in NODE_COLUMNS.split(","))


def pack(uid: str) -> bytes:
    """Return a uid's 16 bytes: half the size of its text in every index."""
    return bytes.fromhex(uid.replace("-", ""))


def unpack(raw: bytes) -> str:
    """Convert the 16 bytes back to a uid."""
    h = raw.hex()
    return f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"


def marks(count: int) -> str:
    """Return ``count`` question marks for an IN list."""
    return ",".join("?" * count)


def item_ref(row: Sequence[Any]) -> ItemRef:
    """Read ITEM_COLUMNS."""
    uid, label, context, domain, created_at, speaker, importance, *instants, version = row
    common = (context, domain, from_us(created_at), speaker, importance)
    return _new_item((unpack(uid), LABELS[label], *common, *map(from_us, instants), version == SYSTEM_VERSION, None))


def part_of(macro: ItemRef, row: Sequence[Any]) -> ItemRef:
    """Read PART_COLUMNS of a Macro-Event's passage: the consolidated item, or ``macro`` for a passage of its own."""
    part, speaker, created_at, *instants = row
    if part is None:
        return macro
    timestamp, retired_at, valid_to, superseded_at, expires_at = map(from_us, instants)
    return replace(
        macro,
        part=part,
        speaker=speaker,
        created_at=from_us(created_at),
        timestamp=timestamp,
        retired_at=retired_at,
        valid_to=valid_to,
        superseded_at=superseded_at,
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
        _to_us(node.created_at),
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
        _to_us(node.timestamp),
        node.timestamp_inferred,
        _to_us(node.retired_at),
        _to_us(node.valid_to),
        _to_us(node.superseded_at),
        _to_us(node.expires_at),
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
    """Convert the values of NODE_COLUMNS to a node."""
    values = list(row)
    for at in _UIDS:
        if values[at] is not None:
            values[at] = unpack(values[at])
    for at in _TIMES:
        values[at] = from_us(values[at])
    for at in _FLAGS:
        values[at] = bool(values[at])
    for at in _LISTS:
        values[at] = tuple(json.loads(values[at])) if values[at] != "[]" else ()
    values[_LABEL] = LABELS[values[_LABEL]]
    values[_SENSITIVITY] = SENSITIVITIES[values[_SENSITIVITY]]
    values[_METADATA] = json.loads(values[_METADATA]) if values[_METADATA] != "{}" else {}
    return _new_node(values)


def edge_row(edge: Edge, source: int, target: int) -> tuple[Any, ...]:
    """Return the values of EDGE_COLUMNS, the ends given as node keys."""
    properties = _dump(edge.properties) if edge.properties else "{}"
    return (
        pack(edge.id),
        edge.type,
        source,
        target,
        edge.weight,
        _to_us(edge.created_at),
        edge.created_by,
        properties,
    )


def edge_of(row: Sequence[Any]) -> Edge:
    """Read EDGE_COLUMNS with source and target as packed uids."""
    return edge_between((unpack(row[2]), unpack(row[3])), (*row[:2], *row[4:]))


def edge_between(ends: tuple[str, str], row: Sequence[Any]) -> Edge:
    """Read EDGE_COLUMNS without source and target, which are ``ends``."""
    properties = json.loads(row[5]) if row[5] != "{}" else {}
    return _new_edge((unpack(row[0]), row[1], *ends, row[2], from_us(row[3]), row[4], properties))


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
