"""Ledger of consolidated items. An item's first passage stores its entry, which exists exactly as long as the proof."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any, get_type_hints

from vicw_shared.clock import from_us, to_us
from vicw_shared.model import Edge, Label, Node, Sensitivity
from vicw_shared.model.core5 import CONSOLIDATED_ITEM, LEDGER, LIGHT

_TIMES = frozenset(name for name, kind in get_type_hints(Node).items() if kind in {datetime, datetime | None})
_TUPLES = frozenset({"aliases", "tags", "trigger_phrases"})
_DEFAULTS = {field.name: field.default for field in fields(Node)}


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """A consolidated item: its node, and the edges at it or added by its extraction, except those of the chains.

    ``light`` are the passages of the item (uids) that had a vector of their own before the consolidation.
    """

    item: Node
    edges: tuple[Edge, ...]
    light: tuple[str, ...] = ()

    def dump(self) -> str:
        """Return the entry as text, about three fifths shorter than its JSON."""
        fields = {"item": _node_row(self.item), "edges": [_edge_row(edge) for edge in self.edges], "light": self.light}
        packed = zlib.compress(json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode())
        return base64.b85encode(packed).decode()

    @classmethod
    def load(cls, text: str) -> LedgerEntry:
        """Parse the output of ``dump``. Raises ValueError for invalid text."""
        try:
            fields = json.loads(zlib.decompress(base64.b85decode(text)))
            return cls(_node(fields["item"]), tuple(map(_edge, fields["edges"])), tuple(fields["light"]))
        except (zlib.error, KeyError, TypeError, AttributeError, OverflowError) as error:
            raise ValueError(f"no entry of a ledger: {error}") from error


def with_entry(passage: Node, entry: LedgerEntry | None, part: str | None, *, light: bool) -> Node:
    """Return a passage with a ledger entry, and without a vector if it is ``light``.

    ``part`` is the uid of the consolidated item; a passage that was consolidated before keeps its first item.
    """
    metadata: dict[str, object] = {CONSOLIDATED_ITEM: part} if part is not None else {}
    metadata |= passage.metadata
    metadata |= {LEDGER: entry.dump()} if entry is not None else {}
    return replace(passage, metadata={**metadata, **({LIGHT: True} if light else {})})


def without_entry(passage: Node, entry: LedgerEntry) -> Node:
    """Undo ``with_entry`` for a passage of the entry's item.

    A passage that needs its vector back is not ``indexed`` until it has it.
    """
    removed = {LEDGER} if passage.uid == entry.item.qdrant_id else set()
    removed |= {LIGHT} if passage.uid in entry.light else set()
    removed |= {CONSOLIDATED_ITEM} if passage.metadata.get(CONSOLIDATED_ITEM) == entry.item.uid else set()
    metadata = {name: value for name, value in passage.metadata.items() if name not in removed}
    return replace(passage, metadata=metadata, indexed=passage.indexed and LIGHT not in removed)


def entries_of(passages: Sequence[Node]) -> dict[str, LedgerEntry]:
    """Return the entries of these passages, by the uids of the items."""
    entries = [LedgerEntry.load(str(passage.metadata[LEDGER])) for passage in passages if LEDGER in passage.metadata]
    return {entry.item.uid: entry for entry in entries}


def _node_row(node: Node) -> dict[str, object]:
    values = {name: getattr(node, name) for name in _DEFAULTS}
    changed = {name: value for name, value in values.items() if value != _DEFAULTS[name]}
    return {name: to_us(value) if name in _TIMES else value for name, value in changed.items()}


def _node(row: Mapping[str, Any]) -> Node:
    values = {name: from_us(value) if name in _TIMES else value for name, value in row.items()}
    values |= {name: tuple(values[name]) for name in _TUPLES & values.keys()}
    kinds = {"label": Label(values["label"]), "sensitivity": Sensitivity(values.get("sensitivity", Sensitivity.PUBLIC))}
    return Node(**{**values, **kinds})


def _edge_row(edge: Edge) -> list[object]:
    ends = (edge.id, edge.type, edge.source, edge.target)
    return [*ends, edge.weight, to_us(edge.created_at), edge.created_by, dict(edge.properties)]


def _edge(row: Sequence[Any]) -> Edge:
    uid, kind, source, target, weight, created_at, created_by, properties = row
    return Edge(
        id=uid,
        type=kind,
        source=source,
        target=target,
        weight=weight,
        created_at=from_us(created_at),
        created_by=created_by,
        properties=properties,
    )
