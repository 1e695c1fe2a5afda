"""A person says that two things are one, or that they are not (``vicw_shared.identity.merge``)."""

from __future__ import annotations

from vicw_ingest.identity.requested_entities import thing_of, things
from vicw_shared.errors import StateConflictError
from vicw_shared.identity.merge import LOCK, MergeDecision, join, merged_into, part
from vicw_shared.model import Node
from vicw_shared.ports import GraphStore, GraphTransaction


async def merge(graph: GraphStore, decision: MergeDecision, entity: str, into: str) -> bool:
    """Make ``into`` stand for ``entity``; return False if a person has said so already.

    Raises InvalidInputError for what is no named thing of the tenant, for two of different labels and for one and the
    same; ConflictError for one that is merged into another already, or that stands for ``into``.
    """

    async def work(transaction: GraphTransaction) -> bool:
        nodes = await things(transaction, entity, into)
        return await join(transaction, decision, thing_of(nodes, entity, "entity"), thing_of(nodes, into, "into"))

    return await graph.write(decision.tenant, LOCK, work)


async def split(graph: GraphStore, decision: MergeDecision, entity: str, apart_from: str | None = None) -> bool:
    """Undo the merge of ``entity``, and remember that the two are not one; return False if that was known.

    Raises InvalidInputError as ``merge`` does, ConflictError for one that is not merged, or into another thing.
    """

    async def work(transaction: GraphTransaction) -> bool:
        nodes = await things(transaction, entity, *([apart_from] if apart_from is not None else []))
        source = thing_of(nodes, entity, "entity")
        if apart_from is not None:
            return await part(transaction, decision, source, thing_of(nodes, apart_from, "apart_from"))
        return await part(transaction, decision, source, await _standing_for(transaction, source))

    return await graph.write(decision.tenant, LOCK, work)


async def _standing_for(transaction: GraphTransaction, source: Node) -> Node:
    merged = await merged_into(transaction, source.uid)
    if merged is None:
        raise StateConflictError(f"entity: {source.name!r} is not merged. Name what it is not in `apart_from`")
    return (await transaction.nodes([merged.target]))[merged.target]
