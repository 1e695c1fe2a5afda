"""Import of a validated export, batch by batch; one transaction stores a batch and the progress of the import.

The import is complete once ``vicw_sleep.check`` finds no violation.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import batched, groupby
from operator import methodcaller

from vicw_core.archive.import_marker import ImportMarker, put_mark, read_mark, require_no_import
from vicw_core.archive.manifest import COUNTERS, EDGES, KEYS, PENDING_EXTRACTIONS, RECEIPTS, STEPS, USES
from vicw_core.archive.rows import COUNTERS as COUNTER_ROWS
from vicw_core.archive.rows import EDGES as EDGE_ROWS
from vicw_core.archive.rows import KEYS as KEY_ROWS
from vicw_core.archive.rows import NODES, CounterRow, PendingExtractionRow, ReceiptRow, Row, RowType, UseRow
from vicw_core.archive.rows import PENDING_EXTRACTIONS as PENDING_EXTRACTION_ROWS
from vicw_core.archive.rows import RECEIPTS as RECEIPT_ROWS
from vicw_core.archive.rows import STEPS as STEP_ROWS
from vicw_core.archive.rows import USES as USE_ROWS
from vicw_shared.errors import StateConflictError
from vicw_shared.model import Label, Node
from vicw_shared.ports import (
    Counters,
    GraphTransaction,
    KeyRing,
    MaintenanceStep,
    ModelIdentity,
    Receipt,
    Store,
    Use,
    VectorStore,
)
from vicw_shared.progress import Progress, silent
from vicw_sleep.archive.point_builder import PointBuilder
from vicw_sleep.archive.validator import Home, ValidatedArchive
from vicw_sleep.check.service import check

type Work = Callable[[GraphTransaction], Awaitable[None]]
type Stage = Callable[[str, int], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportTarget:
    """A store. ``open_vectors`` returns the index for vectors of a model, or None if the store has another model.

    A store without a model adopts that one. ``keys`` None: API keys are not imported. A transaction stores
    ``batch`` rows.
    """

    graph: Store
    open_vectors: Callable[[ModelIdentity], Awaitable[VectorStore | None]]
    keys: KeyRing | None = None
    batch: int = 1000


@dataclass(slots=True)
class ImportResult:
    """State after an import. ``vectors`` counts the export's vectors in the index; passages without one wait to be
    embedded.

    ``violations`` are those of the check: with any, the import is incomplete.
    """

    nodes: int
    edges: int
    vectors: int = 0
    violations: list[str] = field(default_factory=list)


async def import_archive(
    archive: ValidatedArchive, target: ImportTarget, progress: Progress = silent, *, restoring: bool = False
) -> ImportResult:
    """Import an export into a store without data of its tenants, or resume an interrupted import; then check the store.

    ``restoring``: the store has to be empty, and becomes what the export is, sound or not. Raises StateConflictError,
    before anything is written, if the tenants have data, another import is in progress, or the check finds violations
    already. No other process may write to these tenants until the import is complete.
    """
    manifest, graph = archive.reader.manifest, target.graph
    mark, check_first = await _start(archive, target, restoring)
    result = ImportResult(manifest.rows(manifest.node_files), manifest.rows([EDGES]))
    vectors = await _vectors(target, manifest.model) if check_first else None
    if check_first:
        points = _checked(manifest.model, vectors)
        if (await check(graph.audit, graph.outbox, points, archive.registry, progress)).violations:
            raise StateConflictError("The store has violations, which `vicw check` lists. Nothing was imported")
    await _Import(archive, target, mark, progress, manifest.rows()).run()
    # Only now: on an almost full disk, opening the index first kills the process, while the graph raises an error.
    vectors = vectors if check_first else await _vectors(target, manifest.model)
    points = _checked(manifest.model, vectors)
    if vectors is not None:
        builder = PointBuilder(archive.reader, graph.outbox, vectors, progress)
        await builder.run()
        result.vectors = await builder.stored()
    await _keys(archive, target.keys)
    if not restoring:
        result.violations = (await check(graph.audit, graph.outbox, points, archive.registry, progress)).violations
    if mark.tenants and not result.violations:
        await put_mark(graph, mark.tenants[0], None)
    return result


async def _vectors(target: ImportTarget, model: ModelIdentity | None) -> VectorStore | None:
    return await target.open_vectors(model) if model is not None else None


def _checked(model: ModelIdentity | None, vectors: VectorStore | None) -> VectorStore | None:
    """Return the vectors to check against the graph: none for a store without a model."""
    return vectors if model is not None and model.has_vectors else None


async def _start(archive: ValidatedArchive, target: ImportTarget, restoring: bool) -> tuple[ImportMarker, bool]:
    """Return the marker, and whether the import starts in a store with other data. Raises StateConflictError if it
    may not.
    """
    manifest, graph = archive.reader.manifest, target.graph
    fresh = ImportMarker(manifest.digest, manifest.created_at.isoformat(), tuple(archive.tenants))
    mark = await read_mark(graph.archive)
    if mark is None or mark.id != fresh.id or mark.given_up:
        await require_no_import(graph.archive)
        mark = None
    own = {tenant: len(await graph.contexts(tenant)) for tenant in archive.tenants}
    has_other_data = await graph.audit.count(Label.CONTEXT) > sum(own.values())
    if restoring and (has_other_data or (mark is None and any(own.values()))):
        raise StateConflictError(
            "The store is not empty: name another --data-dir, or give --replace: the present data is then kept aside"
        )
    if mark is None and (occupied := [tenant for tenant, count in own.items() if count]):
        raise StateConflictError(
            f"Tenant {occupied[0]!r} has data in this store, and an import needs an empty tenant. Name another "
            "store (--data-dir), replace everything stored by the export (`vicw restore --replace`), or erase "
            f"the tenant first (`vicw forget tenant {occupied[0]}`)"
        )
    if has_other_data and mark is None:
        await _require_no_overlap(archive, target)
    return mark or fresh, has_other_data and mark is None


async def _require_no_overlap(archive: ValidatedArchive, target: ImportTarget) -> None:
    """Raise StateConflictError if the store has a node or step of the export: a forged export has another tenant's."""
    graph = target.graph
    for name in archive.reader.manifest.node_files:
        for part in batched(archive.reader.rows(name, NODES), target.batch):
            if stored := await graph.audit.belongs_to_counts([node.uid for _, node in part]):
                raise StateConflictError(f"{name}: the store has the node {min(stored)} already, of another tenant")
    for line, step in archive.reader.rows(STEPS, STEP_ROWS):
        if await graph.log.step(step.id) is not None:
            raise StateConflictError(
                f"{STEPS}, line {line}: the store has the step {step.id} already, of another tenant"
            )


async def _keys(archive: ValidatedArchive, ring: KeyRing | None) -> None:
    if ring is None:
        return
    for _, key in archive.reader.rows(KEYS, KEY_ROWS):
        if await ring.key(key.id) is None:
            await ring.add(replace(key, revoked_at=None))
            if key.revoked_at is not None:
                await ring.revoke(key.id, key.revoked_at)


@dataclass(slots=True)
class _Import:
    archive: ValidatedArchive
    target: ImportTarget
    mark: ImportMarker
    progress: Progress
    total: int
    _done: int = 0
    _stored: str | None = field(init=False)

    def __post_init__(self) -> None:
        self._stored = self.mark.dump() if self.mark.file else None

    async def run(self) -> None:
        """Write all remaining rows. Contexts come first: giving the import up erases by context."""
        reader, mark = self.archive.reader, self.mark
        of_tenant = {tenant: (tenant, context) for tenant, context in reversed(self.archive.homes)}
        files = sorted(reader.manifest.node_files.items(), key=lambda one: one[1].label is not Label.CONTEXT)
        stages: list[tuple[str, Stage]] = [(name, partial(self._rows, NODES, _home, _put_nodes)) for name, _ in files]
        stages += [
            (COUNTERS, partial(self._rows, COUNTER_ROWS, _home, _raise_counters)),
            (EDGES, self._edges),
            (PENDING_EXTRACTIONS, partial(self._rows, PENDING_EXTRACTION_ROWS, _home, _queue_extractions)),
            (USES, partial(self._rows, USE_ROWS, _home, _raise_uses)),
            (RECEIPTS, partial(self._rows, RECEIPT_ROWS, lambda row: of_tenant[row.tenant], _put_receipts)),
            (STEPS, partial(self._rows, STEP_ROWS, _home, _log)),
        ]
        start = [name for name, _ in stages].index(mark.file) if mark.file else 0
        self._done = reader.manifest.rows([name for name, _ in stages[:start]]) + mark.line
        for name, stage in stages[start:]:
            await stage(name, mark.line if name == mark.file else 0)

    async def _write(self, home: Home, name: str, line: int, work: Work) -> None:
        """Write a batch that ends with a line of a file.

        Raises StateConflictError if another command has given the import up meanwhile, or has begun one.
        """
        graph, mark = self.target.graph, replace(self.mark, file=name, line=line).dump()

        async def both(transaction: GraphTransaction) -> None:
            if await graph.archive.import_mark() not in {self._stored, mark}:  # a repeated transaction finds its own
                raise StateConflictError(
                    "Another command has given this import up (`vicw forget import`), or runs one too. This one stops"
                )
            await work(transaction)
            await transaction.mark_import(mark)

        await graph.write(*home, both)
        self._stored = mark

    def _progress_lines(self, lines: int) -> None:
        self._done += lines
        self.progress("importing", self._done, self.total)

    async def _edges(self, name: str, after: int) -> None:
        for lines in batched(self.archive.reader.rows(name, EDGE_ROWS, after=after), self.target.batch):
            homes = self.archive.homes_of([edge.source for _, edge in lines])
            for home, group in groupby(zip(homes, lines, strict=True), lambda one: one[0]):
                part = [line for _, line in group]
                edges = [edge for _, edge in part]
                await self._write(home, name, part[-1][0], methodcaller("put_edges", edges))
                self._progress_lines(len(part))

    async def _rows[T: Row](
        self,
        kind: RowType[T],
        home: Callable[[T], Home],
        work: Callable[[Sequence[T], GraphTransaction], Awaitable[None]],
        name: str,
        after: int,
    ) -> None:
        for of, group in groupby(self.archive.reader.rows(name, kind, after=after), lambda line: home(line[1])):
            for part in batched(group, self.target.batch):
                await self._write(of, name, part[-1][0], partial(work, [row for _, row in part]))
                self._progress_lines(len(part))


async def _put_nodes(nodes: Sequence[Node], transaction: GraphTransaction) -> None:
    # The point builder marks the passages that have their point.
    await transaction.put_nodes([replace(node, indexed=False) for node in nodes])


async def _raise_counters(rows: Sequence[CounterRow], transaction: GraphTransaction) -> None:
    arrival = max((row.value for row in rows if row.flow is None), default=0)
    await transaction.raise_counters(Counters(arrival, {row.flow: row.value for row in rows if row.flow is not None}))


async def _queue_extractions(rows: Sequence[PendingExtractionRow], transaction: GraphTransaction) -> None:
    await transaction.queue_extractions([row.item for row in rows])


async def _raise_uses(rows: Sequence[UseRow], transaction: GraphTransaction) -> None:
    await transaction.raise_uses({row.item: Use(row.times, row.last) for row in rows})


async def _put_receipts(rows: Sequence[ReceiptRow], transaction: GraphTransaction) -> None:
    for row in rows:
        if await transaction.receipt(row.key) is None:
            await transaction.put_receipt(Receipt(row.key, row.fingerprint, row.created_at, row.body))


async def _log(steps: Sequence[MaintenanceStep], transaction: GraphTransaction) -> None:
    for step in steps:
        await transaction.log_step(step)


def _home(row: Node | CounterRow | PendingExtractionRow | UseRow | MaintenanceStep) -> Home:
    return row.tenant, row.context
