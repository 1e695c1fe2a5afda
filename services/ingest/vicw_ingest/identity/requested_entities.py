"""Lookup of entities that a request names by uid. Errors name the wrong field."""

from __future__ import annotations

from collections.abc import Mapping

from vicw_shared.errors import FieldProblem, InvalidInputError, MissingRecordError
from vicw_shared.model import Node
from vicw_shared.model.names import is_named_node
from vicw_shared.ports import GraphTransaction
from vicw_shared.uids import is_uid

_FIX = "Give a uid that GET /entities lists"


async def requested_nodes(transaction: GraphTransaction, *uids: str) -> dict[str, Node]:
    """Return the existing nodes among ``uids``. Malformed uids are ignored."""
    return await transaction.nodes([uid for uid in uids if is_uid(uid)])


def requested_entity(nodes: Mapping[str, Node], uid: str, field: str) -> Node:
    """Return the live named entity ``uid`` of ``nodes``. Raises InvalidInputError that names ``field``."""
    node = nodes.get(uid)
    if node is None:
        raise InvalidInputError(FieldProblem(field, f"{uid} is the uid of nothing known", _FIX))
    if not is_named_node(node):
        raise InvalidInputError(FieldProblem(field, f"{uid} is {_kind_name(node)}, not a named thing", _FIX))
    return node


def require_entity(node: Node | None, uid: str) -> Node:
    """Return ``node`` if it is a named entity. Raises MissingRecordError otherwise."""
    if node is None or not is_named_node(node):
        raise MissingRecordError(f"There is no named thing of the uid {uid}; GET /entities lists those of a context")
    return node


def _kind_name(node: Node) -> str:
    if node.content_hash is not None:
        return f"an item ({node.subtype})"
    return f"a retired {node.label}" if node.retired_at is not None else f"of the label {node.label}"
