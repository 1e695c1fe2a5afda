"""Export of a store: a consistent snapshot of every context, while others write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import batched

import numpy as np

from vicw_core.archive.import_marker import require_no_import
from vicw_core.archive.manifest import (
    COUNTERS,
    EDGES,
    KEYS,
    PENDING_EXTRACTIONS,
    RECEIPTS,
    STEPS,
    USES,
    DeclaredType,
    Manifest,
)
from vicw_core.archive.rows import COUNTERS as COUNTER_ROWS
from vicw_core.archive.rows import EDGES as EDGE_ROWS
from vicw_core.archive.rows import KEYS as KEY_ROWS
from vicw_core.archive.rows import NODES, CounterRow, PendingExtractionRow, ReceiptRow, UseRow
from vicw_core.archive.rows import PENDING_EXTRACTIONS as PENDING_EXTRACTION_ROWS
from vicw_core.archive.rows import RECEIPTS as RECEIPT_ROWS
from vicw_core.archive.rows import STEPS as STEP_ROWS
from vicw_core.archive.rows import USES as USE_ROWS
from vicw_core.archive.uids import UidIndex
from vicw_core.archive.writer import ArchiveWriter
from vicw_core.background import in_thread
from vicw_shared.clock import now
from vicw_shared.errors import MissingRecordError
from vicw_shared.extensions import Registries
from vicw_shared.model import Edge, Label, Node
from vicw_shared.model.keys import ApiKey
from vicw_shared.ports import (
    GraphSnapshot,
    GraphTransaction,
    MaintenanceStep,
    ModelIdentity,
    Receipt,
    Store,
    VectorStore,
)
from vicw_shared.progress import Progress, Yield, silent, yield_to_event_loop

_TRIES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportSource:
    """A store: its graph, and its vectors with their model (both None: no vectors are available).

    The pages are numbers of rows read and written at once; ``yield_to_foreground`` is awaited between two of them. The
    order of edges in the export follows from ``node_group``, so two exports with another one differ.
    """

    graph: Store
    vectors: VectorStore | None = None
    model: ModelIdentity | None = None
    node_group: int = 500
    node_page: int = 500
    edge_page: int = 2000
    record_page: int = 1000
    yield_to_foreground: Yield = yield_to_event_loop


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportSelection:
    """Scope of an export: one tenant, one context, or everything. ``keys`` are the API keys to include."""

    tenant: str | None = None
    context: str | None = None
    keys: Sequence[ApiKey] = ()


async def export(
    source: ExportSource,
    writer: ArchiveWriter,
    registries: Registries,
    selection: ExportSelection,
    *,
    program: str,
    progress: Progress = silent,
) -> Manifest:
    """Export the ``selection`` of a store, move the export to its path, and return the manifest.

    Raises MissingRecordError for an unknown tenant or context, StateConflictError while an import is incomplete, and
    what the store and the writer raise.
    """
    await require_no_import(source.graph.archive)
    erasures = await _erasures(source.graph)
    total = sum([await source.graph.audit.count(label) for label in Label])
    async with source.graph.archive.snapshot() as snapshot:
        roots = _selected_roots(await snapshot.roots(), selection)
        work = _Export(source, snapshot, writer, registries, lambda done: progress("exporting", done, max(done, total)))
        for root in roots:
            await work.context(root)
        work.crossing()
        if selection.context is None:
            await work.receipts(sorted({root.tenant for root in roots}))
        await work.steps({(root.tenant, root.context) for root in roots})
    writer.write(KEYS, KEY_ROWS, selection.keys)
    model = source.model if source.vectors is not None or (source.model and not source.model.has_vectors) else None
    manifest = Manifest(
        created_at=now(),
        program=program,
        tenant=selection.tenant,
        context=selection.context,
        model=model,
        collections=tuple(one for one in registries.collections if one.name in work.collections),
        edge_types=work.declared(),
        left_out=work.left_out,
        erased_meanwhile=await _erasures(source.graph) != erasures,
    )
    return await in_thread(writer.finish, manifest, model.size if model is not None else 0)


async def _erasures(graph: Store) -> tuple[int, set[str]]:
    """Return what changes when an erasure begins or takes effect: those that took effect, and the unfinished ones."""
    return await graph.erasures.erased(), {note.erasure for note in await graph.erasures.erasures()}


def _selected_roots(roots: Sequence[Node], selection: ExportSelection) -> list[Node]:
    of_tenant = [root for root in roots if selection.tenant in {None, root.tenant}]
    chosen = [root for root in of_tenant if selection.context in {None, root.context}]
    if not chosen and (selection.tenant, selection.context) != (None, None):
        available = sorted(
            {root.context if selection.context is not None else root.tenant for root in of_tenant or roots}
        )
        description = (
            f"context {selection.context!r}" if selection.context is not None else f"tenant {selection.tenant!r}"
        )
        raise MissingRecordError(
            f"There is no {description}; there is {', '.join(map(repr, available[:20])) or 'nothing at all'}"
        )
    return chosen


@dataclass(slots=True)
class _Export:
    source: ExportSource
    snapshot: GraphSnapshot
    writer: ArchiveWriter
    registries: Registries
    on_progress: Callable[[int], None]
    collections: set[str] = field(default_factory=set)
    left_out: dict[str, int] = field(default_factory=dict)
    _types: set[str] = field(default_factory=set)
    _crossing: dict[str, list[Edge]] = field(default_factory=dict)
    _written: UidIndex = field(default_factory=UidIndex)
    _is_locked: bool = False

    async def context(self, root: Node) -> None:
        """Write a consistent context: repeat it if it has changed meanwhile.

        A context that keeps changing is read under its lock, which blocks writers for that time.
        """
        place = self.writer.position()
        for _ in range(_TRIES):
            before = await self.snapshot.version(root)
            members = await self._copy(root)
            if await self.snapshot.version(root) == before:
                break
            self.writer.rewind(place)
        else:

            async def alone(_: GraphTransaction) -> list[str]:
                self.writer.rewind(place)
                self._is_locked = True
                try:
                    return await self._copy(root)
                finally:
                    self._is_locked = False

            members = await self.source.graph.write(root.tenant, root.context, alone)
        self._written.add(members, [0] * len(members))
        self.on_progress(len(self._written))

    async def _rest(self) -> None:
        """Let requests run first, unless writers wait for this context."""
        await (yield_to_event_loop() if self._is_locked else self.source.yield_to_foreground())

    async def _copy(self, root: Node) -> list[str]:
        """Write a context; return the uids of its nodes."""
        self._crossing[root.uid] = []
        members = await self.snapshot.members(root)
        inside, flows = set(members), dict[str, None]()
        for number, uids in enumerate(batched(members, self.source.node_group)):
            nodes: list[Node] = []
            for part in batched(uids, self.source.node_page):
                await self._rest()
                nodes_by_uid = await self.snapshot.nodes(root, part)
                page = [nodes_by_uid[uid] for uid in part if uid in nodes_by_uid]
                await self._nodes(page)
                nodes += page
            flows |= dict.fromkeys(node.flow_id for node in nodes if node.flow_id is not None)
            await self._rest()
            await self._edges(root, uids, inside)
            await self._side_records(root, nodes)
            self.on_progress(len(self._written) + (number + 1) * self.source.node_group)
        await self._counters(root, sorted(flows))
        return members

    async def _nodes(self, nodes: Sequence[Node]) -> None:
        by_collection: dict[str, list[Node]] = {}
        for node in nodes:
            name = self.registries.collections.of(node.label, node.subtype).name
            by_collection.setdefault(name, []).append(node)
        self.collections |= by_collection.keys()
        pointed = [node.uid for node in nodes if node.indexed and (node.label is Label.CHUNK or node.is_statement)]
        vectors = await self.source.vectors.dense(pointed) if self.source.vectors is not None and pointed else {}
        for name, group in by_collection.items():
            self.writer.write(f"{name}.jsonl", NODES, group)
            if ids := [node.uid for node in group if node.uid in vectors]:
                self.writer.embed(name, ids, np.stack([vectors[uid] for uid in ids]))

    async def _edges(self, root: Node, uids: Sequence[str], inside: set[str]) -> None:
        """Write the edges out of these nodes; edges to another context are kept for ``crossing``."""
        after: str | None = None
        while page := await self.snapshot.edges(root, uids, after=after, limit=self.source.edge_page):
            after = page[-1].id
            self._types.update(edge.type for edge in page)
            self.writer.write(EDGES, EDGE_ROWS, [edge for edge in page if edge.target in inside])
            self._crossing[root.uid] += [edge for edge in page if edge.target not in inside]
            if len(page) < self.source.edge_page:
                break
            await self._rest()

    async def _side_records(self, root: Node, nodes: Sequence[Node]) -> None:
        """Write the records of these nodes: pending extractions, and how often answers have shown them."""
        context = {"tenant": root.tenant, "context": root.context}
        pending = await self.snapshot.pending_extractions(
            root, [node.uid for node in nodes if node.content_hash is not None]
        )
        self.writer.write(
            PENDING_EXTRACTIONS,
            PENDING_EXTRACTION_ROWS,
            [PendingExtractionRow(**context, item=uid) for uid in sorted(pending)],
        )
        uses = await self.snapshot.uses(root, [node.uid for node in nodes if node.label in {Label.ENTITY, Label.EVENT}])
        rows = [UseRow(**context, item=uid, times=use.times, last=use.last) for uid, use in sorted(uses.items())]
        self.writer.write(USES, USE_ROWS, rows)

    async def _counters(self, root: Node, flows: Sequence[str]) -> None:
        context = {"tenant": root.tenant, "context": root.context}
        for part in [(), *batched(flows, self.source.record_page)]:
            await self._rest()
            counters = await self.snapshot.counters(root, part)
            rows = [CounterRow(**context, flow=flow, value=value) for flow, value in counters.flow_steps.items()]
            if not part and counters.arrival:
                rows = [CounterRow(**context, flow=None, value=counters.arrival)]
            self.writer.write(COUNTERS, COUNTER_ROWS, rows)

    def crossing(self) -> None:
        """Write the edges between contexts, and count those whose target is not exported."""
        for edges in self._crossing.values():
            for part in batched(sorted(edges, key=lambda edge: edge.id), self.source.edge_page):
                is_exported = self._written.find([edge.target for edge in part]) >= 0
                exported = [edge for edge, here in zip(part, is_exported, strict=True) if here]
                self.writer.write(EDGES, EDGE_ROWS, exported)
                if left_out := len(part) - len(exported):
                    self.left_out["edges"] = self.left_out.get("edges", 0) + left_out

    async def receipts(self, tenants: Sequence[str]) -> None:
        """Write the receipts of tenants."""
        for tenant in tenants:
            after: Receipt | None = None
            while page := await self.snapshot.receipts(tenant, after=after, limit=self.source.record_page):
                after = page[-1]
                rows = [
                    ReceiptRow(
                        tenant=tenant,
                        key=one.key,
                        fingerprint=one.fingerprint,
                        created_at=one.created_at,
                        body=one.body,
                    )
                    for one in page
                ]
                self.writer.write(RECEIPTS, RECEIPT_ROWS, rows)
                await self._rest()

    async def steps(self, homes: set[tuple[str, str]]) -> None:
        """Write the maintenance steps of these contexts."""
        before: MaintenanceStep | None = None
        while page := await self.snapshot.steps(before=before, limit=self.source.record_page):
            before = page[-1]
            await self._rest()
            self.writer.write(STEPS, STEP_ROWS, [step for step in page if (step.tenant, step.context) in homes])

    def declared(self) -> tuple[DeclaredType, ...]:
        """Return the types of the exported edges."""
        registered = {one.name: one for one in self.registries.edges}
        return tuple(
            DeclaredType.of(registered[name]) if name in registered else DeclaredType(name=name)
            for name in sorted(self._types)
        )
