"""Validate every record of an export before anything is written.

``vicw_sleep.check`` validates what the records form together (chains, steps, counters, merges), once they are stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import batched, chain, pairwise

import numpy as np

from vicw_core.archive import refusal
from vicw_core.archive.manifest import (
    COUNTERS,
    EDGES,
    KEYS,
    NAME,
    PENDING_EXTRACTIONS,
    RECEIPTS,
    RECORDS,
    STEPS,
    USES,
)
from vicw_core.archive.reader import ArchiveReader
from vicw_core.archive.rows import COUNTERS as COUNTER_ROWS
from vicw_core.archive.rows import EDGES as EDGE_ROWS
from vicw_core.archive.rows import KEYS as KEY_ROWS
from vicw_core.archive.rows import NODES, CounterRow, PendingExtractionRow, RowType, UseRow
from vicw_core.archive.rows import PENDING_EXTRACTIONS as PENDING_EXTRACTION_ROWS
from vicw_core.archive.rows import RECEIPTS as RECEIPT_ROWS
from vicw_core.archive.rows import STEPS as STEP_ROWS
from vicw_core.archive.rows import USES as USE_ROWS
from vicw_core.archive.uids import UidIndex
from vicw_core.consolidation.ledger import LedgerEntry
from vicw_shared.errors import InvalidInputError
from vicw_shared.model import Edge, EdgeRegistry, Label, Node, NodeCollection
from vicw_shared.model.collections import CORE_COLLECTIONS
from vicw_shared.model.core5 import LEDGER
from vicw_shared.model.erased_steps import VACATED
from vicw_shared.model.keys import tenant_flaw
from vicw_shared.ports import MaintenanceStep
from vicw_shared.progress import Progress, silent

_PART = 2000
_LABELS = tuple(Label)
_NORM_ERROR = 0.01
_MAX_STEPS = 10_000_000
"""Maximum steps of a run: counting a longer, forged run would take hours."""

type Home = tuple[str, str]
"""A tenant and a context."""


@dataclass(slots=True)
class ValidatedArchive:
    """A valid export: its contexts, and the context and label of each of its nodes.

    A node's number in ``uids`` is the number of its home times the number of labels, plus the index of its label.
    """

    reader: ArchiveReader
    registry: EdgeRegistry
    homes: dict[Home, int] = field(default_factory=dict)
    uids: UidIndex = field(default_factory=UidIndex)

    @property
    def tenants(self) -> list[str]:
        """The tenants, in order."""
        return sorted({tenant for tenant, _ in self.homes})

    def homes_of(self, uids: list[str]) -> list[Home]:
        """Return the homes of nodes of the export."""
        homes = list(self.homes)
        return [homes[number // len(_LABELS)] for number in self.uids.find(uids)]


def validate(reader: ArchiveReader, registry: EdgeRegistry, progress: Progress = silent) -> ValidatedArchive:
    """Return the export if each of its records is valid.

    Raises InvalidInputError that names the file, the line, the field and the fix: for changed files, fields and values
    that no store has, ends of edges and contexts that are missing or another tenant's, and edge types that are not
    registered here or may not join such ends.
    """
    size = sum(entry.bytes for entry in reader.manifest.files.values())
    reader.verify(lambda done: progress("comparing", done, size))
    work = _Validator(ValidatedArchive(reader, registry), progress, reader.manifest.rows())
    work.collections()
    work.nodes()
    work.edges()
    work.records()
    work.embeddings()
    return work.archive


@dataclass(slots=True)
class _Validator:
    archive: ValidatedArchive
    progress: Progress
    total: int
    done: int = 0

    def _count(self, lines: int) -> None:
        self.done += lines
        self.progress("checking", self.done, self.total)

    def collections(self) -> None:
        """Validate the manifest: core collections and edge types match this program's, and each file has a
        collection.
        """
        manifest = self.archive.reader.manifest
        core = {one.name: one for one in CORE_COLLECTIONS}
        for declared in manifest.collections:
            if core.get(declared.name, declared) != declared:
                raise refusal(NAME, f"collections: {declared.name} differs from this program's collection")
            if f"{declared.name}.jsonl" in RECORDS:
                raise refusal(NAME, f"collections: {declared.name}.jsonl is a file of another kind")
        others = {name for name in manifest.files if name.endswith(".jsonl")} - {*manifest.node_files}
        for name in sorted(others - {*RECORDS}):
            raise refusal(NAME, f"files: {name} belongs to no collection that the manifest declares")
        registered = {one.name for one in self.archive.registry}
        for edge_type in manifest.edge_types:
            if edge_type.name not in registered:
                raise refusal(
                    NAME,
                    f"edge_types: {edge_type.name} is not registered here",
                    "Install the extension that registers it, and import the export again",
                )

    def nodes(self) -> None:
        """Validate the nodes. Contexts come first: every other node has to be in one."""
        manifest = self.archive.reader.manifest
        for name, collection in sorted(manifest.node_files.items(), key=lambda one: one[1].label is not Label.CONTEXT):
            for part in batched(self.archive.reader.rows(name, NODES), _PART):
                numbers = [self._node(name, collection, line, node) for line, node in part]
                self.archive.uids.add([node.uid for _, node in part], numbers)
                self._count(len(part))

    def _node(self, name: str, collection: NodeCollection, line: int, node: Node) -> int:
        home = (node.tenant, node.context)
        if node.label is not collection.label or collection.subtype not in {None, node.subtype}:
            label = f"label: {node.label} of subtype {node.subtype!r} is not in the collection {collection.name}"
            raise refusal(name, label, line=line)
        if node.label is Label.CONTEXT:
            if problem := tenant_flaw(node.tenant):
                raise refusal(name, f"tenant: {problem}", line=line)
            if home in self.archive.homes:
                raise refusal(name, f"context: {node.context!r} comes twice", line=line)
            self.archive.homes[home] = len(self.archive.homes)
        elif home not in self.archive.homes:
            raise refusal(name, f"context: {node.context!r} of tenant {node.tenant!r} is not in the export", line=line)
        if not all(map(_is_run, _runs(node))):
            raise refusal(name, "metadata: its steps are not ranges of numbers from 1", line=line)
        if (entry := node.metadata.get(LEDGER)) is not None and node.label is Label.CHUNK:
            try:
                item = LedgerEntry.load(str(entry)).item
            except ValueError as error:
                raise refusal(name, f"metadata.{LEDGER}: {error}", line=line) from error
            if (item.tenant, item.context) != home:
                raise refusal(name, f"metadata.{LEDGER}: it keeps an item of another context", line=line)
        return self.archive.homes[home] * len(_LABELS) + _LABELS.index(node.label)

    def edges(self) -> None:
        """Validate the edges: their types are registered, and their ends exist and belong to one tenant."""
        tenants = self.archive.tenants
        of_home = np.array([tenants.index(tenant) for tenant, _ in self.archive.homes] or [0])
        for part in batched(self.archive.reader.rows(EDGES, EDGE_ROWS), _PART):
            sources = self.archive.uids.find([edge.source for _, edge in part])
            targets = self.archive.uids.find([edge.target for _, edge in part])
            crosses_tenants = of_home[sources // len(_LABELS)] != of_home[targets // len(_LABELS)]
            for (line, edge), source, target, is_crossing in zip(part, sources, targets, crosses_tenants, strict=True):
                self._edge(line, edge, int(source), int(target))
                if is_crossing:
                    raise refusal(EDGES, "target: it belongs to another tenant than the source", line=line)
            self._count(len(part))

    def _edge(self, line: int, edge: Edge, source: int, target: int) -> None:
        for end, uid, number in (("source", edge.source, source), ("target", edge.target, target)):
            if number < 0:
                raise refusal(EDGES, f"{end}: the export has no node {uid}", line=line)
        try:
            labels = _LABELS[source % len(_LABELS)], _LABELS[target % len(_LABELS)]
            self.archive.registry.check(edge.type, *labels, field="type")
        except InvalidInputError as error:
            raise refusal(EDGES, error.detail, line=line) from error

    def records(self) -> None:
        """Validate the records beside the graph."""
        reader, tenants = self.archive.reader, {*self.archive.tenants}
        for line, counter in reader.rows(COUNTERS, COUNTER_ROWS):
            self._at_home(COUNTERS, line, counter)
        for line, step in reader.rows(STEPS, STEP_ROWS):
            self._at_home(STEPS, line, step)
        self._of_items(PENDING_EXTRACTIONS, PENDING_EXTRACTION_ROWS)
        self._of_items(USES, USE_ROWS)
        for line, receipt in reader.rows(RECEIPTS, RECEIPT_ROWS):
            if receipt.tenant not in tenants:
                raise refusal(RECEIPTS, f"tenant: {receipt.tenant!r} is not in the export", line=line)
            self._count(1)
        for line, key in reader.rows(KEYS, KEY_ROWS):
            if problem := tenant_flaw(key.tenant):
                raise refusal(KEYS, f"tenant: {problem}", line=line)
            self._count(1)

    def _of_items[T: PendingExtractionRow | UseRow](self, name: str, kind: RowType[T]) -> None:
        homes = list(self.archive.homes)
        for part in batched(self.archive.reader.rows(name, kind), _PART):
            numbers = self.archive.uids.find([row.item for _, row in part])
            for (line, row), number in zip(part, numbers, strict=True):
                self._at_home(name, line, row)
                if number < 0 or homes[number // len(_LABELS)] != (row.tenant, row.context):
                    raise refusal(name, f"item: the context has no node {row.item}", line=line)
                if isinstance(row, UseRow) and row.times < 1:
                    raise refusal(name, f"times: {row.times} is less than 1", line=line)

    def _at_home(self, name: str, line: int, row: CounterRow | PendingExtractionRow | UseRow | MaintenanceStep) -> None:
        if (row.tenant, row.context) not in self.archive.homes:
            raise refusal(name, f"context: {row.context!r} is not in the export", line=line)
        self._count(1)

    def embeddings(self) -> None:
        """Validate the vectors: each has norm 1."""
        for collection in self.archive.reader.embedded:
            _, vectors = self.archive.reader.vectors(collection)
            for start, end in pairwise([*range(0, len(vectors), _PART), len(vectors)]):
                norms = np.linalg.norm(vectors[start:end], axis=1)
                wrong = np.flatnonzero(~(np.abs(norms - 1) < _NORM_ERROR))
                if len(wrong):
                    raise refusal(f"embeddings/{collection}.npy", f"row {start + wrong[0]} is not a unit vector")
                self._count(end - start)


def _runs(node: Node) -> Iterator[object]:
    """Yield the runs of steps of a Macro-Event, or of a Context's erased Events."""
    vacated = node.metadata.get(VACATED, {}) if node.label is Label.CONTEXT else {}
    erased = [*vacated.values()] if isinstance(vacated, Mapping) else []
    steps = [*erased, node.metadata.get("steps") if node.is_macro else None]
    return chain.from_iterable(runs for runs in steps if isinstance(runs, list))


def _is_run(run: object) -> bool:
    match run:
        case [int(first), int(last)]:
            return 1 <= first <= last < first + _MAX_STEPS
    return False
