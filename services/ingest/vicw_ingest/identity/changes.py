"""Changes of entities on a person's request: merge and split (``vicw_core.identity.merge``), and rename.

A rename keeps the uid and all edges; the old name becomes an alias. Errors name the wrong field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from vicw_core.identity.merge import LOCK, MergeDecision, apply_merge, apply_split, merged_into
from vicw_shared.errors import FieldProblem, InvalidInputError, MissingRecordError, StateConflictError
from vicw_shared.model import Node
from vicw_shared.model.edges import IN_PAYLOAD
from vicw_shared.model.names import is_named_node
from vicw_shared.ports import Direction, GraphStore, GraphTransaction
from vicw_shared.text import fold_case
from vicw_shared.uids import is_uid

_FIX = "Give a uid that GET /entities lists"


async def requested_nodes(transaction: GraphTransaction, *uids: str) -> dict[str, Node]:
    """Return the existing nodes among ``uids``. Malformed uids are ignored."""
    return await transaction.nodes([uid for uid in uids if is_uid(uid)])


def requested_entity(nodes: Mapping[str, Node], uid: str, field: str) -> Node:
    """Return the live named entity ``uid`` of ``nodes``. Raises InvalidInputError that names ``field``."""
    node = nodes.get(uid)
    if node is None:
        raise InvalidInputError(FieldProblem(field, f"no node has the uid {uid}", _FIX))
    if not is_named_node(node):
        raise InvalidInputError(FieldProblem(field, f"{uid} is {_kind_name(node)}, not a named entity", _FIX))
    return node


def require_entity(node: Node | None, uid: str) -> Node:
    """Return ``node`` if it is a named entity. Raises MissingRecordError otherwise."""
    if node is None or not is_named_node(node):
        raise MissingRecordError(f"No named entity has the uid {uid}; GET /entities lists those of a context")
    return node


def _kind_name(node: Node) -> str:
    if node.content_hash is not None:
        return f"an item ({node.subtype})"
    return f"a retired {node.label}" if node.retired_at is not None else f"a node with the label {node.label}"


async def merge(graph: GraphStore, decision: MergeDecision, entity: str, into: str) -> bool:
    """Merge ``entity`` into ``into``. Return False if a person has already merged them.

    Raises InvalidInputError for a uid that is no named entity of the tenant, for different labels, and for the same
    entity twice; StateConflictError if ``entity`` is merged into another entity, or is canonical for ``into``.
    """

    async def work(transaction: GraphTransaction) -> bool:
        nodes = await requested_nodes(transaction, entity, into)
        return await apply_merge(
            transaction, decision, requested_entity(nodes, entity, "entity"), requested_entity(nodes, into, "into")
        )

    return await graph.write(decision.tenant, LOCK, work)


async def split(graph: GraphStore, decision: MergeDecision, entity: str, apart_from: str | None = None) -> bool:
    """Undo the merge of ``entity``, and record that the two differ. Return False if that was already recorded.

    Raises InvalidInputError as ``merge`` does, StateConflictError if ``entity`` is not merged, or into another entity.
    """

    async def work(transaction: GraphTransaction) -> bool:
        nodes = await requested_nodes(transaction, entity, *([apart_from] if apart_from is not None else []))
        source = requested_entity(nodes, entity, "entity")
        if apart_from is not None:
            return await apply_split(transaction, decision, source, requested_entity(nodes, apart_from, "apart_from"))
        return await apply_split(transaction, decision, source, await _merged_into_any(transaction, source))

    return await graph.write(decision.tenant, LOCK, work)


async def _merged_into_any(transaction: GraphTransaction, source: Node) -> Node:
    merged = await merged_into(transaction, source.uid)
    if merged is None:
        raise StateConflictError(f"entity: {source.name!r} is not merged. Name what it is not in `apart_from`")
    return (await transaction.nodes([merged.target]))[merged.target]


MAX_ALIASES = 100
MAX_REFRESHED = 20_000
"""Maximum number of edges whose items' payloads one rename refreshes in its transaction."""


async def rename(graph: GraphStore, tenant: str, uid: str, name: str, *, most_chars: int) -> bool:
    """Rename an entity to ``name``. Return False if it already has this name.

    Raises MissingRecordError for a uid that is no named entity of the tenant; InvalidInputError for a name that is too
    long; StateConflictError if too many items name it in their tags or ``about``, or if it has had too many names.
    """
    if len(name) > most_chars:
        over = f"has {len(name)} characters, over the limit of {most_chars}"
        raise InvalidInputError(FieldProblem("name", over, "Shorten it, or raise VICW_MAX_NAME_CHARS"))
    entity = require_entity((await graph.nodes(tenant, [uid])).get(uid) if is_uid(uid) else None, uid)

    async def work(transaction: GraphTransaction) -> bool:
        node = require_entity((await transaction.nodes([uid])).get(uid), uid)
        if node.name == name:
            return False
        # Payload fields used by filters repeat the name: putting the edges updates them through the outbox.
        edges = await transaction.edges([uid], sorted(IN_PAYLOAD), Direction.IN)
        if len(edges) > MAX_REFRESHED:
            raise StateConflictError(
                f"{node.name!r} is named by {len(edges)} items, over {MAX_REFRESHED}. "
                "Merge it into an entity of that name"
            )
        await transaction.put_nodes([_renamed(node, name)])
        await transaction.put_edges(edges)
        return True

    return await graph.write(tenant, entity.context, work)


def _renamed(node: Node, name: str) -> Node:
    aliases = {fold_case(alias): alias for alias in (*node.aliases, node.name)}
    aliases.pop(fold_case(name), None)
    if len(aliases) > MAX_ALIASES:
        raise StateConflictError(f"{node.name!r} has had {MAX_ALIASES} names. Keep the current name")
    return replace(node, name=name, title=name, aliases=tuple(aliases.values()))
