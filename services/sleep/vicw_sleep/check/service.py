"""Check the invariants of a store (``vicw check``). Read-only.

Every page is judged by look-ups of the ids it names, so memory use does not grow with the store. A violation is checked
twice, since another process may be in the middle of a write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import batched

from vicw_core.graph.canonical import MERGED_INTO, find_cycles
from vicw_shared.errors import InvalidInputError
from vicw_shared.model import EdgeRegistry, Label, Node
from vicw_shared.model.chain import HAPPENED_AFTER, NEXT
from vicw_shared.ports import EdgeEnds, Edges, GraphAudit, Nodes, Outbox, TermScope, VectorStore, scan_pages
from vicw_shared.progress import Progress
from vicw_sleep.check.flow_steps import gaps
from vicw_sleep.reconcile.discrepancies import (
    PAGE,
    Discrepancy,
    DiscrepancyKind,
    compared,
    orphaned,
    still_orphaned,
    unindexed,
    wait_for_writers,
)

_WITH_POINTS = frozenset({Label.ENTITY, Label.EVENT, Label.CONCEPT})
"""Labels of nodes whose ``qdrant_id`` may name another node's point."""


@dataclass(frozen=True, slots=True)
class CheckLimits:
    """Sizes of a check."""

    page: int = PAGE
    listed: int = 5000
    """Maximum number of violations listed; the others are only counted."""


@dataclass(slots=True)
class CheckReport:
    """Counts, and the violations as sentences: as many as the limits list; ``unlisted`` counts the others.

    ``waiting`` passages are not indexed yet.
    """

    nodes: int = 0
    edges: int = 0
    points: int = 0
    waiting: int = 0
    violations: list[str] = field(default_factory=list)
    unlisted: int = 0
    limits: CheckLimits = field(default_factory=CheckLimits, repr=False)

    @property
    def room(self) -> int:
        """How many more violations can be listed."""
        return self.limits.listed - len(self.violations)

    def add(self, violations: Sequence[str]) -> None:
        """Add violations."""
        self.unlisted += max(0, len(violations) - self.room)
        self.violations += violations[: self.room]


async def check(
    audit: GraphAudit,
    outbox: Outbox,
    vectors: VectorStore | None,
    registry: EdgeRegistry,
    progress: Progress = lambda what, done, total: None,
    limits: CheckLimits | None = None,
) -> CheckReport:
    """Check all invariants and return the report.

    Points agree with ``indexed`` and with the graph's payload, in both directions. Counts of terms are those of the
    passages, and counts of items those of the items. Chains are complete, ordered and
    without side branches. Every node belongs to exactly one context. Steps are gap-free, and counters do not give a
    number twice. Every edge is registered. Merges have one target each and no circles.

    ``vectors`` None: the store has no vectors, so that no point is missing, and ``indexed`` means that a passage needs
    no more work.
    """
    report = CheckReport(limits=limits or CheckLimits())
    counts = {label: await audit.count(label) for label in Label}
    await _check_passages(audit, outbox, vectors, report, lambda done: progress("passages", done, counts[Label.CHUNK]))
    if vectors is not None:
        await _check_points(audit, vectors, report, lambda done: progress("points", done, counts[Label.CHUNK]))
    await _check_counts(audit, report)
    await _check_nodes(audit, vectors, report, lambda done: progress("nodes", done, sum(counts.values())))
    await _check_edges(audit, registry, report, lambda done: progress("edges", done, 0))
    listed, unlisted = await gaps(
        audit, report.room, lambda done: progress("steps", done, counts[Label.EVENT]), report.limits.page
    )
    report.add(listed)
    report.unlisted += unlisted
    return report


_Done = Callable[[int], None]


async def _check_passages(
    audit: GraphAudit, outbox: Outbox, vectors: VectorStore | None, report: CheckReport, progress: _Done
) -> None:
    after: str | None = None
    done = 0
    while True:
        page, discrepancies = await compared(audit, outbox, vectors, after=after, limit=report.limits.page)
        if not page:
            break
        after = page[-1].point_id
        report.waiting += len(unindexed(page))
        report.add([_sentence_of(uid, discrepancies[uid]) for uid in sorted(discrepancies)])
        done += len(page)
        progress(done)


def _sentence_of(uid: str, discrepancy: Discrepancy) -> str:
    match discrepancy.kind:
        case DiscrepancyKind.NO_ENTRY:
            return f"Chunk {uid} is neither indexed nor queued"
        case DiscrepancyKind.NO_POINT:
            return f"Chunk {uid} is marked indexed but has no point"
        case DiscrepancyKind.MISCOUNTED:
            return f"Chunk {uid} is not counted with the terms of its text"
        case DiscrepancyKind.UNWANTED:
            return f"Point {uid} belongs to a Chunk without an item"
        case DiscrepancyKind.OUTDATED | DiscrepancyKind.STALE:
            return f"Point {uid} differs from the graph: {', '.join(discrepancy.fields)}"


async def _check_points(audit: GraphAudit, vectors: VectorStore, report: CheckReport, progress: _Done) -> None:
    after: str | None = None
    suspects: list[str] = []
    while True:
        page, orphans = await orphaned(audit, vectors, after=after, limit=report.limits.page)
        if not page:
            break
        after = page[-1]
        report.points += len(page)
        suspects += orphans
        progress(report.points)
    if suspects:
        await wait_for_writers()
    for batch in batched(suspects, report.limits.page):
        report.add([f"Point {uid} has no Chunk" for uid in await still_orphaned(audit, vectors, batch)])


async def _check_counts(audit: GraphAudit, report: CheckReport) -> None:
    if suspects := await audit.wrong_counts():
        await wait_for_writers()
        confirmed = set(await audit.wrong_counts())
        report.add([_sentence_on(scope) for scope in suspects if scope in confirmed])


def _sentence_on(scope: TermScope) -> str:
    part = f"context {scope.context!r} of tenant" if scope.context else "tenant"
    return f"The counts of {part} {scope.tenant!r} are not those of its passages and items"


async def _check_nodes(audit: GraphAudit, vectors: VectorStore | None, report: CheckReport, progress: _Done) -> None:
    for label in Label:
        after: str | None = None
        while page := await audit.scan(Nodes(label), after=after, limit=report.limits.page):
            if violations := await _node_violations(audit, vectors, label, page):
                reread = await audit.scan(Nodes(label), after=after, limit=report.limits.page)
                confirmed = set(await _node_violations(audit, vectors, label, reread))
                report.add([violation for violation in violations if violation in confirmed])
            after = page[-1].uid
            report.nodes += len(page)
            progress(report.nodes)


async def _node_violations(
    audit: GraphAudit, vectors: VectorStore | None, label: Label, page: Sequence[Node]
) -> list[str]:
    violations: list[str] = []
    if label is not Label.CONTEXT:
        violations += await _membership_violations(audit, page)
    if label in _WITH_POINTS:
        violations += await _index_violations(audit, vectors, page)
    if label is Label.EVENT:
        violations += [
            f"Event {event.uid} has a flow, but no step in it"
            for event in page
            if event.arrival is not None and event.flow_id is not None and event.flow_step is None
        ]
        violations += [
            f"Event {event.uid} has an arrival or a step that the counter of {event.context!r} would give again"
            for event in await _uncounted(audit, page)
        ]
        for chain in (NEXT, HAPPENED_AFTER):
            violations += await _chain_violations(audit, chain, page)
    return violations


async def _uncounted(audit: GraphAudit, page: Sequence[Node]) -> list[Node]:
    numbered = [event for event in page if event.arrival is not None]
    uids = await audit.uncounted(numbered)
    return [event for event in numbered if event.uid in uids]


async def _membership_violations(audit: GraphAudit, page: Sequence[Node]) -> list[str]:
    belongs_to = await audit.belongs_to_counts([node.uid for node in page])
    counts = {node.uid: belongs_to.get(node.uid, 0) for node in page}
    return [f"Node {uid} belongs to {count} contexts instead of one" for uid, count in counts.items() if count != 1]


async def _index_violations(audit: GraphAudit, vectors: VectorStore | None, page: Sequence[Node]) -> list[str]:
    point_ids = list({node.qdrant_id for node in page if node.qdrant_id is not None})
    present = await vectors.present(point_ids) if vectors is not None else set(point_ids)
    states = await audit.point_states(point_ids) if point_ids else {}
    indexed = {uid for uid in present if states.get(uid, True)}
    violations: list[str] = []
    for node in page:
        if node.indexed != (node.qdrant_id in indexed):
            negation, article = ("", "no") if node.indexed else ("not ", "a")
            violations.append(f"{node.label} {node.uid} is {negation}marked indexed but has {article} point")
    return violations


async def _chain_violations(audit: GraphAudit, chain: str, events: Sequence[Node]) -> list[str]:
    violations: list[str] = []
    for uid, link in (await audit.chain_links(chain, events)).items():
        if link.misplaced:
            violations.append(f"{chain} chain: Event {uid} is out of place")
        if link.follower is not None and not link.joined:
            violations.append(f"{chain} chain is broken: nothing joins {uid} to {link.follower}")
        violations += [f"{chain} chain has a stray edge between {uid} and {stray}" for stray in sorted(link.unexpected)]
    return violations


async def _check_edges(audit: GraphAudit, registry: EdgeRegistry, report: CheckReport, progress: _Done) -> None:
    async for page in scan_pages(audit, Edges(), limit=report.limits.page):
        report.edges += len(page)
        report.add(list(_edge_violations(registry, page)))
        report.add(await _merge_violations(audit, page))
        progress(report.edges)


async def _merge_violations(audit: GraphAudit, page: Iterable[EdgeEnds]) -> list[str]:
    merged = {edge.source for edge, _, _ in page if edge.type == MERGED_INTO}
    if not merged:
        return []
    in_cycles, ambiguous = await find_cycles(merged, audit.merge_edges)
    violations = [f"Node {uid} is merged in a circle" for uid in sorted(in_cycles)]
    return violations + [f"Node {uid} is merged into several nodes instead of one" for uid in sorted(ambiguous)]


def _edge_violations(registry: EdgeRegistry, page: Iterable[EdgeEnds]) -> Iterator[str]:
    for edge, source, target in page:
        if source is None or target is None:
            yield f"Edge {edge.id} ({edge.type}) has an end that does not exist"
            continue
        try:
            registry.check(edge.type, source, target)
        except InvalidInputError as error:
            yield f"Edge {edge.id}: {error.detail}"
