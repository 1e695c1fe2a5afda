"""The invariants of a store, as ``vicw check`` proves them. Read-only."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from vicw_shared.errors import InvalidInputError
from vicw_shared.model import Edge, EdgeRegistry, Label, Node
from vicw_shared.model.chain import ChainKey, clock_key, next_key
from vicw_shared.ports import GraphAudit, Outbox, VectorStore
from vicw_sleep.disagreement import Disagreement, Kind, compared, unindexed
from vicw_sleep.reconcile import point_ids

_PAGE = 5000
_CHAINS = ("NEXT", "HAPPENED_AFTER")


@dataclass(slots=True)
class Report:
    """What was counted, and every violation as a sentence. ``waiting`` passages are not indexed yet."""

    nodes: int = 0
    edges: int = 0
    points: int = 0
    waiting: int = 0
    violations: list[str] = field(default_factory=list)


_Member = tuple[ChainKey, str]
"""A live Event of a chain: its key and its uid."""


async def check(audit: GraphAudit, outbox: Outbox, vectors: VectorStore, registry: EdgeRegistry) -> Report:
    """Return the report: points agree with ``indexed`` and the reverse, and say what the graph says; chains are whole,
    in order, without side branches; every node of a context is in exactly one; steps are gap-free; no edge is outside
    the registry.
    """
    report = Report()
    await _check_points(audit, outbox, vectors, report)
    flows, clocks, steps, homes = await _read_nodes(audit, report)
    chain_edges = await _check_edges(audit, registry, homes, report)
    report.violations += _home_violations(homes)
    report.violations += _step_violations(steps)
    next_pairs = {(e.source, e.target) for e in chain_edges if e.type == "NEXT"}
    clock_pairs = {(e.target, e.source) for e in chain_edges if e.type == "HAPPENED_AFTER"}
    report.violations += _chain_violations("NEXT", flows.values(), next_pairs)
    report.violations += _chain_violations("HAPPENED_AFTER", clocks.values(), clock_pairs)
    return report


async def _check_points(audit: GraphAudit, outbox: Outbox, vectors: VectorStore, report: Report) -> None:
    points = await point_ids(vectors)
    report.points = len(points)
    waiting: set[str] = set()
    orphans = set(points)
    after: str | None = None
    while True:
        page, found = await compared(audit, outbox, vectors, after=after)
        if not page:
            break
        after = page[-1].point_id
        orphans.difference_update(point.point_id for point in page)
        waiting |= unindexed(page)
        report.violations += [_said(uid, found[uid]) for uid in sorted(found)]
    report.waiting = len(waiting)
    report.violations += [f"Point {uid} has no Chunk" for uid in sorted(orphans)]
    indexed = points.difference(waiting)
    for label in (Label.ENTITY, Label.EVENT, Label.CONCEPT):
        async for node in _nodes(audit, label):
            if node.indexed != (node.qdrant_id in indexed):
                said, there_is = ("", "no") if node.indexed else ("not ", "a")
                report.violations.append(f"{label} {node.uid} is {said}marked indexed but has {there_is} point")


def _said(uid: str, found: Disagreement) -> str:
    match found.kind:
        case Kind.NO_ENTRY:
            return f"Chunk {uid} is neither indexed nor queued"
        case Kind.NO_POINT:
            return f"Chunk {uid} is marked indexed but has no point"
        case Kind.UNWANTED:
            return f"Point {uid} is of a Chunk that proves no item"
        case Kind.OUTDATED | Kind.STALE:
            return f"Point {uid} is not what the graph says: {', '.join(found.fields)}"


async def _read_nodes(
    audit: GraphAudit, report: Report
) -> tuple[
    dict[tuple[str, str, str], list[_Member]],
    dict[tuple[str, str], list[_Member]],
    dict[tuple[str, str, str], list[int]],
    dict[str, int],
]:
    flows: dict[tuple[str, str, str], list[_Member]] = defaultdict(list)
    clocks: dict[tuple[str, str], list[_Member]] = defaultdict(list)
    steps: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    homes: dict[str, int] = {}
    for label in Label:
        async for node in _nodes(audit, label):
            report.nodes += 1
            if label is not Label.CONTEXT:
                homes[node.uid] = 0
            if node.arrival is None:
                continue
            if node.flow_id is not None and node.flow_step is not None:
                steps[node.tenant, node.context, node.flow_id].append(node.flow_step)
            if node.retired_at is None and node.timestamp is not None:
                clocks[node.tenant, node.context].append((clock_key(node), node.uid))
                if node.flow_id is not None:
                    flows[node.tenant, node.context, node.flow_id].append((next_key(node), node.uid))
    return flows, clocks, steps, homes


async def _check_edges(audit: GraphAudit, registry: EdgeRegistry, homes: dict[str, int], report: Report) -> list[Edge]:
    """Count BELONGS_TO into ``homes``, report edges outside the registry, return the chains' edges."""
    chains: list[Edge] = []
    after: Edge | None = None
    while page := await audit.edge_page(after=after, limit=_PAGE):
        after = page[-1][0]
        for edge, source, target in page:
            report.edges += 1
            if source is None or target is None:
                report.violations.append(f"Edge {edge.id} ({edge.type}) has an end that does not exist")
                continue
            try:
                registry.check(edge.type, source, target)
            except InvalidInputError as error:
                report.violations.append(f"Edge {edge.id}: {error.detail}")
            if edge.type == "BELONGS_TO":
                homes[edge.source] = homes.get(edge.source, 0) + 1
            elif edge.type in _CHAINS:
                chains.append(edge)
    return chains


def _home_violations(homes: dict[str, int]) -> Iterator[str]:
    for uid, count in homes.items():
        if count != 1:
            yield f"Node {uid} belongs to {count} contexts instead of one"


def _step_violations(steps: dict[tuple[str, str, str], list[int]]) -> Iterator[str]:
    for (_, context, flow), given in steps.items():
        if set(given) != set(range(1, len(set(given)) + 1)):
            yield f"Flow {flow!r} of {context!r}: steps are not gap-free from 1"


def _chain_violations(name: str, chains: Iterable[list[_Member]], found: set[tuple[str, str]]) -> Iterator[str]:
    expected = {pair for chain in chains for pair in pairwise(uid for _, uid in sorted(chain))}
    for earlier, later in sorted(expected - found):
        yield f"{name} chain is broken: nothing joins {earlier} to {later}"
    for earlier, later in sorted(found - expected):
        yield f"{name} chain has a stray edge between {earlier} and {later}"


async def _nodes(audit: GraphAudit, label: Label) -> AsyncIterator[Node]:
    after: str | None = None
    while page := await audit.page(label, after=after, limit=_PAGE):
        after = page[-1].uid
        for node in page:
            yield node
