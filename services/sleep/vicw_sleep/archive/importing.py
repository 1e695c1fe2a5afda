"""Into a store: what was judged, batch by batch; each batch and how far it brings the import are one transaction."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import batched, groupby
from typing import Protocol

from vicw_shared.archive.manifest import COUNTERS, EDGES, KEYS, RECEIPTS, STEPS, UNREAD, USES
from vicw_shared.archive.rows import COUNTERS as COUNTER_ROWS
from vicw_shared.archive.rows import EDGES as EDGE_ROWS
from vicw_shared.archive.rows import KEYS as KEY_ROWS
from vicw_shared.archive.rows import NODES, CounterRow
from vicw_shared.archive.rows import RECEIPTS as RECEIPT_ROWS
from vicw_shared.archive.rows import STEPS as STEP_ROWS
from vicw_shared.archive.rows import UNREAD as UNREAD_ROWS
from vicw_shared.archive.rows import USES as USE_ROWS
from vicw_shared.errors import ConflictError
from vicw_shared.model import Label, Node
from vicw_shared.ports import (
    Counters,
    GraphArchive,
    GraphAudit,
    GraphStore,
    GraphTransaction,
    KeyRing,
    ModelIdentity,
    Outbox,
    Receipt,
    SleepLog,
    Use,
    VectorStore,
)
from vicw_shared.progress import Progress, silent
from vicw_sleep.archive.judging import Home, Judged
from vicw_sleep.archive.marks import Mark, dump_homes, require_whole
from vicw_sleep.archive.pointing import Pointing
from vicw_sleep.archive.standing import contexts_of, is_empty, mark_of

_BATCH = 1000

type Line[T] = tuple[int, T]
type Work = Callable[[GraphTransaction], Awaitable[None]]


class Imported(GraphStore, GraphArchive, GraphAudit, Outbox, SleepLog, Protocol):
    """What is needed of a graph."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A store. ``open_vectors`` returns the index for vectors of a model, or None if the store has another model's.

    A store that has no model yet takes that one. ``keys`` None: API keys are left where they are.
    """

    graph: Imported
    open_vectors: Callable[[ModelIdentity], Awaitable[VectorStore | None]]
    keys: KeyRing | None = None

    def without_keys(self) -> Target:
        """Return it with the API keys left where they are."""
        return replace(self, keys=None)


@dataclass(slots=True)
class Result:
    """What is in the store now. ``vectors`` are the export's; passages whose vectors are not there wait to be embedded.

    ``again`` tells that this export had been imported before, and nothing was done: what has changed since stays so.
    """

    nodes: int = 0
    edges: int = 0
    vectors: int = 0
    again: bool = False


async def import_archive(judged: Judged, target: Target, progress: Progress = silent) -> Result:
    """Bring an export into a store, or what of it is missing since a run before this one broke off.

    Raises ConflictError, before anything is written, where the store has one of its contexts, or another import under
    way. Nothing may write to these contexts before it is over.
    """
    manifest = judged.reader.manifest
    mark = await _begun(judged, target.graph)
    result = Result(nodes=judged.reader.manifest.rows(manifest.node_files), edges=manifest.rows([EDGES]))
    if mark.done:
        return replace(result, again=True)
    work = _Import(judged, target.graph, mark, progress, manifest.rows())
    await work.run()
    if manifest.model is not None and (vectors := await target.open_vectors(manifest.model)) is not None:
        pointing = Pointing(judged.reader, target.graph, vectors, progress)
        await pointing.run()
        result.vectors = await pointing.stored()
    await _keys(judged, target.keys)
    await work.finish()
    return result


async def _begun(judged: Judged, graph: Imported) -> Mark:
    """Return how far the import is. Raises ConflictError where it may not begin."""
    manifest = judged.reader.manifest
    mark = await mark_of(judged, graph)
    if mark is not None and not mark.given_up:
        return mark
    await require_whole(graph)
    if there := await contexts_of(judged, graph):
        tenant, context = there[0]
        count = sum(owner == tenant for owner, _ in there)
        raise ConflictError(
            f"The store has the context {context!r} of tenant {tenant!r} already ({count} of the export's "
            "contexts). Import into a store without it; an import never mixes two histories"
        )
    if not await is_empty(graph):
        await _require_strange(judged, graph)
    return Mark(manifest.digest, manifest.created_at.isoformat())


async def _require_strange(judged: Judged, graph: Imported) -> None:
    """Raise ConflictError where the store has a node, an edge or a step of the export, whoever's: it would change."""
    for name in judged.reader.manifest.node_files:
        for part in batched(judged.reader.rows(name, NODES), _BATCH):
            if held := await graph.homes([node.uid for _, node in part]):
                raise ConflictError(f"{name}: the store has the node {min(held)} already, in another context")
    for lines in batched(judged.reader.rows(EDGES, EDGE_ROWS), _BATCH):
        ids: dict[str, list[str]] = {}
        for _, edge in lines:
            ids.setdefault(edge.type, []).append(edge.id)
        for edge_type, some in ids.items():
            if known := await graph.held_edges(edge_type, some):
                raise ConflictError(f"{EDGES}: the store has the edge {min(known)} already, in another context")
    for _, step in judged.reader.rows(STEPS, STEP_ROWS):
        if await graph.step(step.id) is not None:
            raise ConflictError(f"{STEPS}: the store has the step {step.id} already, in another context")


async def _keys(judged: Judged, ring: KeyRing | None) -> None:
    if ring is None:
        return
    for _, key in judged.reader.rows(KEYS, KEY_ROWS):
        if await ring.key(key.id) is None:
            await ring.add(replace(key, revoked_at=None))
            if key.revoked_at is not None:
                await ring.revoke(key.id, key.revoked_at)


@dataclass(slots=True)
class _Import:
    judged: Judged
    graph: Imported
    mark: Mark
    progress: Progress
    total: int
    _done: int = 0
    _noted: bool = False

    async def run(self) -> None:
        """Write all that is not written yet. Counters come first: no number is given twice even if somebody writes."""
        reader = self.judged.reader
        stages: list[tuple[str, Callable[[str, int], Awaitable[None]]]] = [(COUNTERS, self._counters)]
        files = sorted(reader.manifest.node_files.items(), key=lambda one: one[1].label is not Label.CONTEXT)
        stages += [(name, self._nodes) for name, _ in files]
        stages += [(EDGES, self._edges), (UNREAD, self._unread), (USES, self._uses)]
        stages += [(RECEIPTS, self._receipts), (STEPS, self._steps)]
        names = [name for name, _ in stages]
        start = names.index(self.mark.file) if self.mark.file else 0
        for number, (name, stage) in enumerate(stages):
            if number < start:
                self._done += reader.manifest.rows([name])
                continue
            after = self.mark.line if name == self.mark.file else 0
            self._done += after
            await stage(name, after)

    async def finish(self) -> None:
        """Note that all of it is stored."""
        if self.judged.homes:
            mark = replace(self.mark, done=True)
            await self.graph.write(*next(iter(self.judged.homes)), partial(_note, mark))

    async def _write(self, home: Home, name: str, line: int, work: Work) -> None:
        """Write a batch that ends with a line of a file."""
        mark = replace(self.mark, file=name, line=line)

        async def both(transaction: GraphTransaction) -> None:
            await work(transaction)
            await _note(mark, transaction)
            if not self._noted:
                await transaction.begin_import(dump_homes(self.judged.homes))

        await self.graph.write(*home, both)
        self._noted = True

    def _told(self, lines: int) -> None:
        self._done += lines
        self.progress("importing", self._done, self.total)

    async def _nodes(self, name: str, after: int) -> None:
        for home, part in _grouped(self.judged.reader.rows(name, NODES, after=after), _home):
            # Whether a passage has its point, the work on points says.
            nodes = [replace(node, indexed=False) for _, node in part]
            await self._write(home, name, part[-1][0], lambda t, nodes=nodes: t.put_nodes(nodes))  # type: ignore[misc]
            self._told(len(part))

    async def _edges(self, name: str, after: int) -> None:
        for lines in batched(self.judged.reader.rows(name, EDGE_ROWS, after=after), _BATCH):
            homes = self.judged.homes_of([edge.source for _, edge in lines])
            for home, group in groupby(zip(homes, lines, strict=True), lambda one: one[0]):
                part = [line for _, line in group]
                edges = [edge for _, edge in part]
                await self._write(home, name, part[-1][0], lambda t, edges=edges: t.put_edges(edges))  # type: ignore[misc]
                self._told(len(part))

    async def _counters(self, name: str, after: int) -> None:
        rows = self.judged.reader.rows(name, COUNTER_ROWS, after=after)
        for home, part in _grouped(rows, lambda row: (row.tenant, row.context)):
            counters = _counted([row for _, row in part])
            await self._write(home, name, part[-1][0], lambda t, c=counters: t.raise_counters(c))  # type: ignore[misc]
            self._told(len(part))

    async def _unread(self, name: str, after: int) -> None:
        rows = self.judged.reader.rows(name, UNREAD_ROWS, after=after)
        for home, part in _grouped(rows, lambda row: (row.tenant, row.context)):
            items = [row.item for _, row in part]
            await self._write(home, name, part[-1][0], lambda t, items=items: t.put_unread(items))  # type: ignore[misc]
            self._told(len(part))

    async def _uses(self, name: str, after: int) -> None:
        rows = self.judged.reader.rows(name, USE_ROWS, after=after)
        for home, part in _grouped(rows, lambda row: (row.tenant, row.context)):
            uses = {row.item: Use(row.times, row.last) for _, row in part}
            await self._write(home, name, part[-1][0], lambda t, uses=uses: t.raise_uses(uses))  # type: ignore[misc]
            self._told(len(part))

    async def _receipts(self, name: str, after: int) -> None:
        of_tenant = {tenant: (tenant, context) for tenant, context in reversed(self.judged.homes)}
        rows = self.judged.reader.rows(name, RECEIPT_ROWS, after=after)
        for home, part in _grouped(rows, lambda row: of_tenant[row.tenant]):
            receipts = [Receipt(row.key, row.fingerprint, row.created_at, row.body) for _, row in part]
            await self._write(home, name, part[-1][0], partial(_remember, receipts))
            self._told(len(part))

    async def _steps(self, name: str, after: int) -> None:
        rows = self.judged.reader.rows(name, STEP_ROWS, after=after)
        for home, part in _grouped(rows, lambda row: (row.tenant, row.context)):
            steps = [step for _, step in part]

            async def log(transaction: GraphTransaction, steps: Sequence[object] = steps) -> None:
                for step in steps:
                    await transaction.log_step(step)  # type: ignore[arg-type]

            await self._write(home, name, part[-1][0], log)
            self._told(len(part))


async def _note(mark: Mark, transaction: GraphTransaction) -> None:
    await transaction.mark_import(mark.dump())


async def _remember(receipts: Sequence[Receipt], transaction: GraphTransaction) -> None:
    for receipt in receipts:
        if await transaction.receipt(receipt.key) is None:  # a tenant may have given it in another context
            await transaction.remember(receipt)


def _home(node: Node) -> Home:
    return node.tenant, node.context


def _counted(rows: Sequence[CounterRow]) -> Counters:
    arrival = max((row.value for row in rows if row.flow is None), default=0)
    return Counters(arrival, {row.flow: row.value for row in rows if row.flow is not None})


def _grouped[T](rows: Iterable[Line[T]], home: Callable[[T], Home]) -> Iterator[tuple[Home, Sequence[Line[T]]]]:
    """Return lines that follow each other and are of one home, _BATCH of them at most."""
    for of, group in groupby(rows, lambda line: home(line[1])):
        for part in batched(group, _BATCH):
            yield of, part
