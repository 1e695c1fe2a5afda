"""Deterministic node and edge ids, so that every write can be repeated.

A uid is the UUIDv5 of tenant, context and a natural key. The label is not part of it.
"""

from __future__ import annotations

import re
import uuid

from vicw_shared.text import fold_case

_NAMESPACE = uuid.UUID("6f3f1b4e-9a53-5d0e-8a52-3c9f0f7a1d11")
_FORM = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SEPARATOR = "\x1f"


def make_uid(*parts: str) -> str:
    """Return the UUIDv5 string of ``parts``; length prefixes keep ("a","bc") and ("ab","c") apart."""
    key = _SEPARATOR.join(f"{len(part)}:{part}" for part in parts)
    return str(uuid.uuid5(_NAMESPACE, key))


def is_uid(text: str) -> bool:
    """Return whether ``text`` has the form of a uid, in lower case."""
    return _FORM.fullmatch(text) is not None


def context_uid(tenant: str, context: str) -> str:
    """Return the uid of a Context root."""
    return make_uid(tenant, context, "context")


def item_uid(tenant: str, context: str, item_id: str, version: int) -> str:
    """Return the uid of one version (1, 2, …) of a caller's item."""
    return make_uid(tenant, context, "item", item_id, str(version))


def chunk_uid(item: str, ordinal: int) -> str:
    """Return the uid of the ``ordinal``-th passage (from 0) of an item version."""
    return make_uid(item, "chunk", str(ordinal))


def named_uid(tenant: str, context: str, subtype: str, name: str) -> str:
    """Return the uid of a named node: one per case-folded name and subtype inside a context.

    The subtype is part of the identity, so "Wizard" the class and "Wizard" the person are two nodes.
    """
    return make_uid(tenant, context, "named", fold_case(subtype), fold_case(name))


def extracted_event_uid(item: str, local_id: str) -> str:
    """Return the uid of an event extracted from an item."""
    return make_uid(item, "event", local_id)


def edge_id(edge_type: str, source: str, target: str, *, desc: str = "", source_item: str = "") -> str:
    """Return the id of an edge: one per type, direction, pair, (for RELATED_TO) description, and source item.

    ``source_item`` is the item that the edge was extracted from: an edge stated by two items survives when one is
    retracted.
    """
    return make_uid("edge", edge_type, source, target, desc, source_item)
