"""Rename of an entity's display name. The uid and all edges stay; the old name becomes an alias."""

from __future__ import annotations

from dataclasses import replace

from vicw_ingest.identity.requested_entities import require_entity
from vicw_shared.errors import FieldProblem, InvalidInputError, StateConflictError
from vicw_shared.model import Node
from vicw_shared.model.edges import IN_PAYLOAD
from vicw_shared.ports import Direction, GraphStore, GraphTransaction
from vicw_shared.text import fold_case
from vicw_shared.uids import is_uid

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
                "Merge it into a thing of that name"
            )
        await transaction.put_nodes([_renamed(node, name)])
        await transaction.put_edges(edges)
        return True

    return await graph.write(tenant, entity.context, work)


def _renamed(node: Node, name: str) -> Node:
    aliases = {fold_case(alias): alias for alias in (*node.aliases, node.name)}
    aliases.pop(fold_case(name), None)
    if len(aliases) > MAX_ALIASES:
        raise StateConflictError(f"{node.name!r} has had {MAX_ALIASES} names already. Leave it this one")
    return replace(node, name=name, title=name, aliases=tuple(aliases.values()))
