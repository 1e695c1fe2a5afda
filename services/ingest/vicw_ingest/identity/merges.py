"""Merge and split of entities on a person's request (``vicw_shared.identity.merge``)."""

from __future__ import annotations

from vicw_ingest.identity.requested_entities import requested_entity, requested_nodes
from vicw_shared.errors import StateConflictError
from vicw_shared.identity.merge import LOCK, MergeDecision, apply_merge, apply_split, merged_into
from vicw_shared.model import Node
from vicw_shared.ports import GraphStore, GraphTransaction


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
