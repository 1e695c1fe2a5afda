"""Conversion of nodes and edges to property maps and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from vicw_core.index.full_text import head_words, text_words
from vicw_shared.clock import from_us, to_us
from vicw_shared.model import Edge, Label, Node
from vicw_shared.model.core5 import CONSOLIDATED_ITEM, LABELS, SENSITIVITIES, SYSTEM_VERSION
from vicw_shared.model.edges import SOURCE_ITEM
from vicw_shared.ports import ItemRef
from vicw_shared.text import fold_case
from vicw_stores.neo4j.keys import derived

Properties = Mapping[str, Any]
_REQUIRED = {"uid", "chunk", "weight", "label", "name", "text"}
_NODES = {"node", "item"}
"""Columns with a node, which is incomplete only if it was removed during the read."""


def gathered(records: Sequence[Mapping[str, Any]]) -> list[Properties]:
    """Return the rows of a statement that ends with ``cypher.parts.gathered``, without nodes removed during the read.

    A node that another transaction removes during the read is returned without properties.
    """
    (record,) = records
    rows: list[Properties] = record["rows"]
    columns = set(rows[0]) if rows else set()
    for name in _REQUIRED & columns:
        rows = [row for row in rows if row[name] is not None]
    for name in _NODES & columns:
        rows = [row for row in rows if is_node(row[name])]
    return rows


def nodes_in(rows: Iterable[Mapping[str, Any]]) -> list[Node]:
    """Return the nodes of records, in their order, without nodes removed during the read."""
    return [node_of(row["node"]) for row in rows if is_node(row["node"])]


def by_uid(rows: Iterable[Mapping[str, Any]]) -> dict[str, Node]:
    """Return the nodes of records, by uid."""
    return {node.uid: node for node in nodes_in(rows)}


def is_node(properties: Properties | None) -> bool:
    """Return whether the node still existed when its properties and its label, two separate reads, were read."""
    return properties is not None and properties.get("uid") is not None and properties.get("label") is not None


def node_row(node: Node) -> dict[str, object]:
    """Return a node's properties. Instants are microseconds: exact, and sorted as in Python."""
    row = {
        "uid": node.uid,
        "tenant": node.tenant,
        "context": node.context,
        "name": node.name,
        "subtype": node.subtype,
        "domain": node.domain,
        "created_at": to_us(node.created_at),
        "qdrant_id": node.qdrant_id,
        "title": node.title,
        "aliases": list(node.aliases) or None,
        "text": node.text,
        "speaker": node.speaker,
        "source": node.source,
        "source_id": node.source_id,
        "version": node.version,
        "content_hash": node.content_hash,
        "text_key": node.text_key,
        "tags": list(node.tags) or None,
        "bucket": node.bucket,
        "metadata": _dump(node.metadata),
        "timestamp": to_us(node.timestamp),
        "timestamp_inferred": node.timestamp_inferred,
        "retired_at": to_us(node.retired_at),
        "valid_to": to_us(node.valid_to),
        "superseded_at": to_us(node.superseded_at),
        "expires_at": to_us(node.expires_at),
        "flow_id": node.flow_id,
        "flow_step": node.flow_step,
        "own_step": node.own_step,
        "arrival": node.arrival,
        "sensitivity": node.sensitivity.value,
        "portable": node.portable,
        "importance": node.importance,
        "protected": node.protected,
        "trigger_phrases": list(node.trigger_phrases) or None,
        "indexed": node.indexed,
        # For filters: no query language case-folds as VICW does.
        "folded": fold_case(node.name) if node.label is not Label.CHUNK else None,
        "formerly": [fold_case(alias) for alias in node.aliases] or None,
        "kind": fold_case(node.subtype) if node.label is not Label.CHUNK else None,
        **_words(node),
        **derived(node),
    }
    return {name: value for name, value in row.items() if value is not None}


def _words(node: Node) -> dict[str, object]:
    """Return the words of the full text: of a Chunk's text, with its length, or of an item's names, tags and bucket."""
    if node.label is Label.CHUNK:
        # Counts of texts need no text then.
        return {"words": text_words(node.text or ""), "chars": len(node.text or "")}
    if node.content_hash is None:
        return {}
    return {"head_words": head_words(node.name, node.title, node.tags, node.bucket)}


def node_of(row: Properties) -> Node:
    """Convert properties, ``label`` included, to a node."""
    get = row.get
    return Node(
        uid=row["uid"],
        label=LABELS[row["label"]],
        tenant=row["tenant"],
        context=row["context"],
        name=row["name"],
        subtype=row["subtype"],
        domain=row["domain"],
        created_at=from_us(row["created_at"]),
        qdrant_id=get("qdrant_id"),
        title=get("title"),
        aliases=tuple(get("aliases", ())),
        text=get("text"),
        speaker=get("speaker"),
        source=get("source"),
        source_id=get("source_id"),
        version=row["version"],
        content_hash=get("content_hash"),
        text_key=get("text_key"),
        tags=tuple(get("tags", ())),
        bucket=get("bucket"),
        metadata=metadata_of(metadata) if (metadata := get("metadata")) else {},
        timestamp=from_us(timestamp) if (timestamp := get("timestamp")) is not None else None,
        timestamp_inferred=row["timestamp_inferred"],
        retired_at=from_us(retired_at) if (retired_at := get("retired_at")) is not None else None,
        valid_to=from_us(valid_to) if (valid_to := get("valid_to")) is not None else None,
        superseded_at=from_us(superseded_at) if (superseded_at := get("superseded_at")) is not None else None,
        expires_at=from_us(expires_at) if (expires_at := get("expires_at")) is not None else None,
        flow_id=get("flow_id"),
        flow_step=get("flow_step"),
        own_step=get("own_step"),
        arrival=get("arrival"),
        sensitivity=SENSITIVITIES[row["sensitivity"]],
        portable=row["portable"],
        importance=get("importance"),
        protected=row["protected"],
        trigger_phrases=tuple(get("trigger_phrases", ())),
        indexed=row["indexed"],
    )


def item_ref(row: Properties, passage: Properties | None) -> ItemRef:
    """Return the ranking fields of an item; those of a consolidated item come from its ``passage``."""
    part = metadata_of(passage["metadata"]).get(CONSOLIDATED_ITEM) if passage is not None else None
    source = passage if passage is not None and part is not None else row
    names = ("timestamp", "retired_at", "valid_to", "superseded_at", "expires_at")
    instants = {name: from_us(source[name]) for name in names}
    return ItemRef(
        uid=row["uid"],
        label=Label(row["label"]),
        context=row["context"],
        domain=row["domain"],
        speaker=source["speaker"],
        importance=row["importance"],
        created_at=from_us(source["created_at"]),
        is_macro=row["version"] == SYSTEM_VERSION,
        part=str(part) if part is not None else None,
        **instants,
    )


def edge_row(edge: Edge) -> dict[str, object]:
    """Return an edge's properties, without its type and ends, which the relationship has."""
    return {
        "id": edge.id,
        "weight": edge.weight,
        "created_at": to_us(edge.created_at),
        "created_by": edge.created_by,
        "properties": _dump(edge.properties),
        "told_by": edge.properties.get(SOURCE_ITEM),
    }


def edge_of(row: Properties) -> Edge:
    """Convert properties, ``type``, ``source`` and ``target`` included, to an edge."""
    return Edge(
        id=row["id"],
        type=row["type"],
        source=row["source"],
        target=row["target"],
        weight=row["weight"],
        created_at=from_us(row["created_at"]),
        created_by=row["created_by"],
        properties=metadata_of(row.get("properties")),
    )


def _dump(value: Mapping[str, object]) -> str | None:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) if value else None


def metadata_of(text: str | None) -> dict[str, object]:
    """Return the metadata, or an edge's properties, that a string holds as JSON."""
    loaded: dict[str, object] = json.loads(text) if text else {}
    return loaded
