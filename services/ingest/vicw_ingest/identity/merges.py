"""A merge is one edge, and a split takes it away: nothing else is written, so that the undoing is exact.

All merges and splits of a tenant are made one at a time: two that agree each with what is stored, in contexts of their
own, could make a circle between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from vicw_ingest.identity.ends import thing_of, things
from vicw_shared.errors import ConflictError, FieldProblem, InvalidInputError
from vicw_shared.merging import DISTINCT_FROM, MERGED_INTO, canonical_in
from vicw_shared.model import Edge, EdgeRegistry, Node
from vicw_shared.ports import Direction, GraphStore, GraphTransaction
from vicw_shared.ties import Ties

_LOCK = ""
"""The context whose lock merges hold: no caller's, since a name is never empty."""
_BY = "caller"


@dataclass(frozen=True, slots=True)
class Decision:
    """A person's: in whose tenant, and when."""

    tenant: str
    at: datetime
    registry: EdgeRegistry


async def merge(graph: GraphStore, decision: Decision, entity: str, into: str) -> bool:
    """Make ``into`` stand for ``entity``; return False if it was merged into it already.

    Raises InvalidInputError for what is no named thing of the tenant, for two of different labels and for one and the
    same; ConflictError for one that is merged into another already, or that stands for ``into``.
    """

    async def work(transaction: GraphTransaction) -> bool:
        nodes = await things(transaction, entity, into)
        source, target = thing_of(nodes, entity, "entity"), thing_of(nodes, into, "into")
        _require_two_of_a_kind(source, target)
        known = await _merged_into(transaction, entity)
        if known is not None and known.target == into:
            return False
        if known is not None:
            raise ConflictError(
                f"entity: {source.name!r} is merged into {known.target} already. Split it first, or merge that one"
            )
        await _require_no_circle(transaction, source, target)
        apart = await transaction.edges([entity], [DISTINCT_FROM])
        await transaction.drop_edges([edge for edge in apart if into in {edge.source, edge.target}])
        await transaction.put_edges([_edge(MERGED_INTO, entity, into, decision)])
        return True

    return await graph.write(decision.tenant, _LOCK, work)


async def split(graph: GraphStore, decision: Decision, entity: str, apart_from: str | None = None) -> bool:
    """Undo the merge of ``entity``, and remember that the two are not one; return False if that was known.

    Raises InvalidInputError as ``merge`` does, ConflictError for one that is not merged, or into another thing.
    """

    async def work(transaction: GraphTransaction) -> bool:
        nodes = await things(transaction, entity, *([apart_from] if apart_from is not None else []))
        source = thing_of(nodes, entity, "entity")
        merged = await _merged_into(transaction, entity)
        other = apart_from or (merged.target if merged is not None else None)
        if other is None:
            raise ConflictError(f"entity: {source.name!r} is not merged. Name what it is not in `apart_from`")
        if apart_from is not None:
            _require_two_of_a_kind(source, thing_of(nodes, apart_from, "apart_from"), field="apart_from")
        stands = await canonical_in(transaction, [entity, other])
        one = stands[entity] == stands[other]
        if one and (merged is None or merged.target != other):
            raise ConflictError(
                f"apart_from: {source.name!r} and {other} are one by other merges. GET /entities/{entity} and "
                f"GET /entities/{other} say by which; split those"
            )
        known = [e for e in await transaction.edges([entity], [DISTINCT_FROM]) if other in {e.source, e.target}]
        if not one and known:
            return False
        await transaction.drop_edges([merged] if one and merged is not None else [])
        await transaction.put_edges([] if known else [_edge(DISTINCT_FROM, entity, other, decision)])
        return True

    return await graph.write(decision.tenant, _LOCK, work)


def _require_two_of_a_kind(source: Node, target: Node, field: str = "into") -> None:
    if source.uid == target.uid:
        raise InvalidInputError(FieldProblem(field, "is the entity itself", "Name another one"))
    if source.label is not target.label:
        raise InvalidInputError(
            FieldProblem(
                field,
                f"{target.name!r} is of the label {target.label}, the entity of {source.label}",
                "Name two things of one label",
            )
        )


async def _require_no_circle(transaction: GraphTransaction, source: Node, target: Node) -> None:
    end = (await canonical_in(transaction, [target.uid]))[target.uid]
    if end == source.uid:
        raise ConflictError(
            f"into: {source.name!r} stands for {target.name!r}, so that a merge would go in a circle. "
            f"Merge {target.uid} into {source.uid} instead, or split it first"
        )
    if await _merged_into(transaction, end) is not None:
        raise ConflictError(f"into: {target.name!r} is merged through more things than are followed. Merge into {end}")


async def _merged_into(transaction: GraphTransaction, uid: str) -> Edge | None:
    return next(iter(await transaction.edges([uid], [MERGED_INTO], Direction.OUT)), None)


def _edge(edge_type: str, source: str, target: str, decision: Decision) -> Edge:
    return Ties(decision.registry, decision.at).edge(edge_type, source, target, by=_BY)
