"""Merge and split entities. A merge rewrites no data and adds one edge, so that a split undoes it exactly.

All merges and splits of a tenant run one at a time, under ``LOCK``: two concurrent merges in different contexts, each
valid by itself, could close a cycle.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from vicw_core.graph.canonical import DISTINCT_FROM, MERGED_INTO, canonical_in, is_inferred
from vicw_core.graph.edge_factory import CALLER, EdgeFactory
from vicw_shared.errors import FieldProblem, InvalidInputError, StateConflictError
from vicw_shared.model import Edge, EdgeRegistry, Node
from vicw_shared.ports import Direction, GraphTransaction

LOCK = ""
"""Context whose lock merges hold. Callers' contexts never have this name, since their names are not empty."""


@dataclass(frozen=True, slots=True)
class MergeDecision:
    """Tenant, time and author (``by``, the caller by default) of a decision. The edge gets these ``properties``."""

    tenant: str
    at: datetime
    registry: EdgeRegistry
    by: str = CALLER
    properties: Mapping[str, object] = field(default_factory=dict)

    def edge(self, edge_type: str, source: Node, target: Node) -> Edge:
        """Return the edge of the decision."""
        return EdgeFactory(self.registry, self.at).edge(
            edge_type, source.uid, target.uid, by=self.by, properties=self.properties
        )


async def apply_merge(transaction: GraphTransaction, decision: MergeDecision, source: Node, target: Node) -> bool:
    """Merge ``source`` into ``target``; return False if it is merged into ``target`` already.

    A caller's merge replaces inferred merges that conflict with it or equal it. Raises InvalidInputError for different
    labels and for identical entities; StateConflictError if ``source`` is merged into another entity, or if the merge
    would close a cycle or extend a chain that is too long to follow.
    """
    require_same_label(source, target)
    if decision.by == CALLER:
        await _clear_inferred_merges(transaction, source, target)
    existing = await merged_into(transaction, source.uid)
    if existing is not None and existing.target == target.uid:
        return False
    if existing is not None:
        raise StateConflictError(
            f"entity: {source.name!r} is merged into {existing.target} already. Split it first, or merge that one"
        )
    await _require_no_cycle(transaction, source, target)
    distinctions = await transaction.edges([source.uid], [DISTINCT_FROM])
    await transaction.drop_edges([edge for edge in distinctions if target.uid in {edge.source, edge.target}])
    await transaction.put_edges([decision.edge(MERGED_INTO, source, target)])
    return True


async def _clear_inferred_merges(transaction: GraphTransaction, source: Node, target: Node) -> None:
    """Remove an inferred merge of ``source``, and an inferred merge of ``target`` into ``source``."""
    source_merge, target_merge = await merged_into(transaction, source.uid), await merged_into(transaction, target.uid)
    conflicting = [
        source_merge,
        target_merge if target_merge is not None and target_merge.target == source.uid else None,
    ]
    await transaction.drop_edges([edge for edge in conflicting if edge is not None and is_inferred(edge)])


async def apply_split(transaction: GraphTransaction, decision: MergeDecision, source: Node, other: Node) -> bool:
    """Undo the merge of ``source`` into ``other`` and record that they are distinct; False: that was recorded already.

    Raises InvalidInputError as ``apply_merge`` does, StateConflictError if other merges join them.
    """
    require_same_label(source, other, field="apart_from")
    merged = await merged_into(transaction, source.uid)
    canonical_uids = await canonical_in(transaction, [source.uid, other.uid])
    are_merged = canonical_uids[source.uid] == canonical_uids[other.uid]
    if are_merged and (merged is None or merged.target != other.uid):
        raise StateConflictError(
            f"apart_from: {source.name!r} and {other.uid} are joined by other merges, which "
            f"GET /entities/{source.uid} and GET /entities/{other.uid} list; split those"
        )
    distinctions = await transaction.edges([source.uid], [DISTINCT_FROM])
    recorded = [edge for edge in distinctions if other.uid in {edge.source, edge.target}]
    if not are_merged and recorded:
        return False
    await transaction.drop_edges([merged] if are_merged and merged is not None else [])
    await transaction.put_edges([] if recorded else [decision.edge(DISTINCT_FROM, source, other)])
    return True


async def merged_into(transaction: GraphTransaction, uid: str) -> Edge | None:
    """Return the MERGED_INTO edge of an entity, if it has one."""
    return next(iter(await transaction.edges([uid], [MERGED_INTO], Direction.OUT)), None)


def require_same_label(source: Node, target: Node, field: str = "into") -> None:
    """Raise InvalidInputError for ``field`` if both are the same entity or their labels differ."""
    if source.uid == target.uid:
        raise InvalidInputError(FieldProblem(field, "is the entity itself", "Name another one"))
    if source.label is not target.label:
        raise InvalidInputError(
            FieldProblem(
                field,
                f"{target.name!r} has the label {target.label}, the entity has {source.label}",
                "Name two entities with the same label",
            )
        )


async def _require_no_cycle(transaction: GraphTransaction, source: Node, target: Node) -> None:
    end = (await canonical_in(transaction, [target.uid]))[target.uid]
    if end == source.uid:
        raise StateConflictError(
            f"into: {source.name!r} is the canonical entity of {target.name!r}: the merge would close a cycle. "
            f"Merge {target.uid} into {source.uid} instead, or split it first"
        )
    if await merged_into(transaction, end) is not None:
        raise StateConflictError(f"into: the chain of merges of {target.name!r} is too long. Merge into {end}")
