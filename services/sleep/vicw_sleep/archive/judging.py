"""Whether an export may be imported: read to its end before anything is written."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import batched, groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from vicw_shared.archive.manifest import COUNTERS, EDGES, KEYS, NAME, RECEIPTS, RECORDS, STEPS, UNREAD, USES
from vicw_shared.archive.problems import refusal
from vicw_shared.archive.reading import ArchiveReader
from vicw_shared.archive.rows import COUNTERS as COUNTER_ROWS
from vicw_shared.archive.rows import EDGES as EDGE_ROWS
from vicw_shared.archive.rows import KEYS as KEY_ROWS
from vicw_shared.archive.rows import NODES, CounterRow, UnreadRow, UseRow
from vicw_shared.archive.rows import RECEIPTS as RECEIPT_ROWS
from vicw_shared.archive.rows import STEPS as STEP_ROWS
from vicw_shared.archive.rows import UNREAD as UNREAD_ROWS
from vicw_shared.archive.rows import USES as USE_ROWS
from vicw_shared.archive.uids import UidIndex
from vicw_shared.errors import InvalidInputError
from vicw_shared.folding.ledger import Entry
from vicw_shared.model import Edge, EdgeRegistry, Label, Node, NodeCollection
from vicw_shared.model.collections import CORE_COLLECTIONS
from vicw_shared.model.core5 import LEDGER
from vicw_shared.model.keys import tenant_flaw
from vicw_shared.ports import Step
from vicw_shared.progress import Progress, silent
from vicw_sleep.archive.belonging import Belonging
from vicw_sleep.archive.chaining import Chains
from vicw_sleep.archive.numbering import Numbers

_PART = 2000
_LABELS = tuple(Label)
_NORM_ERROR = 0.01

type Home = tuple[str, str]
"""A tenant and a context."""


@dataclass(slots=True)
class Judged:
    """An export that may be imported: its contexts, and where each of its nodes is.

    A node's number in ``uids`` is that of its home, times the labels, plus its label's.
    """

    reader: ArchiveReader
    homes: dict[Home, int] = field(default_factory=dict)
    uids: UidIndex = field(default_factory=UidIndex)

    @property
    def tenants(self) -> list[str]:
        """The tenants, in order."""
        return sorted({tenant for tenant, _ in self.homes})

    def homes_of(self, uids: list[str]) -> list[Home]:
        """Return the homes of nodes of the export."""
        known = list(self.homes)
        return [known[number // len(_LABELS)] for number in self.uids.find(uids)]


def judge(
    reader: ArchiveReader, registry: EdgeRegistry, progress: Progress = silent, *, chained: bool = True
) -> Judged:
    """Return the export if all of it is sound. Not ``chained``: whatever its chains are, as they were in a store.

    Raises InvalidInputError that names the file, the line, the field and what to do: for what is not what was exported,
    for fields and values that no store has, ends of edges and contexts that are not there, edge types that are not
    registered here or may not join such ends, what belongs to no context or to two, and what ``vicw check`` finds wrong
    with chains, steps, their counters and merges.
    """
    size = sum(entry.bytes for entry in reader.manifest.files.values())
    reader.verify(lambda done: progress("comparing", done, size))
    total = reader.manifest.rows()
    work = _Judge(Judged(reader), registry, progress, total, chains=Chains() if chained else None)
    work.collections()
    work.nodes()
    work.edges()
    work.records()
    work.uses()
    work.embeddings()
    return work.judged


@dataclass(slots=True)
class _Judge:
    judged: Judged
    registry: EdgeRegistry
    progress: Progress
    total: int
    done: int = 0
    chains: Chains | None = None
    numbers: Numbers = field(default_factory=Numbers)
    roots: list[str] = field(default_factory=list)

    def _count(self, lines: int) -> None:
        self.done += lines
        self.progress("checking", self.done, self.total)

    def collections(self) -> None:
        """Judge what the manifest says of collections: core ones are what they are, and each file has one."""
        manifest = self.judged.reader.manifest
        core = {one.name: one for one in CORE_COLLECTIONS}
        for declared in manifest.collections:
            if core.get(declared.name, declared) != declared:
                raise refusal(NAME, f"collections: {declared.name} is another collection here")
            if f"{declared.name}.jsonl" in RECORDS:
                raise refusal(NAME, f"collections: {declared.name}.jsonl is a file of another kind")
        others = {name for name in manifest.files if name.endswith(".jsonl")} - {*manifest.node_files}
        for name in sorted(others - {*RECORDS}):
            raise refusal(NAME, f"files: {name} is of no collection that it names")

    def nodes(self) -> None:
        """Judge the nodes. Those of Contexts come first: the others have to be in one."""
        manifest = self.judged.reader.manifest
        for name, collection in sorted(manifest.node_files.items(), key=lambda one: one[1].label is not Label.CONTEXT):
            for part in batched(self.judged.reader.rows(name, NODES), _PART):
                numbers = [self._node(name, collection, line, node) for line, node in part]
                self.judged.uids.add([node.uid for _, node in part], numbers)
                self._chained(name, part)
                self._count(len(part))
        if (uid := self.judged.uids.twice()) is not None:
            raise refusal(NAME, f"files: the node {uid} comes twice")
        if self.chains is not None:
            self.chains.close()

    def _chained(self, name: str, part: Sequence[tuple[int, Node]]) -> None:
        if self.chains is None:
            return
        self.numbers.add(name, part)
        for home, lines in groupby(part, lambda line: (line[1].tenant, line[1].context)):
            self.chains.add(name, self.judged.homes[home], list(lines))

    def _node(self, name: str, collection: NodeCollection, line: int, node: Node) -> int:
        home = (node.tenant, node.context)
        if node.label is not collection.label or collection.subtype not in {None, node.subtype}:
            told = f"label: {node.label} of subtype {node.subtype!r} is not in the collection {collection.name}"
            raise refusal(name, told, line=line)
        if node.label is Label.CONTEXT:
            if problem := tenant_flaw(node.tenant):
                raise refusal(name, f"tenant: {problem}", line=line)
            if home in self.judged.homes:
                raise refusal(name, f"context: {node.context!r} comes twice", line=line)
            self.judged.homes[home] = len(self.judged.homes)
            self.roots.append(node.uid)
        elif home not in self.judged.homes:
            raise refusal(name, f"context: {node.context!r} of tenant {node.tenant!r} is not in the export", line=line)
        if (entry := node.metadata.get(LEDGER)) is not None and node.label is Label.CHUNK:
            try:
                item = Entry.load(str(entry)).item
            except ValueError as error:
                raise refusal(name, f"metadata.{LEDGER}: {error}", line=line) from error
            if (item.tenant, item.context) != home:
                raise refusal(name, f"metadata.{LEDGER}: it keeps an item of another context", line=line)
        return self.judged.homes[home] * len(_LABELS) + _LABELS.index(node.label)

    def edges(self) -> None:
        """Judge the edges: their types are registered here, and join what is there."""
        self._types()
        tenants = list(self.judged.tenants)
        of_home = np.array([tenants.index(tenant) for tenant, _ in self.judged.homes] or [0])
        belonging, ids = Belonging(self.judged.uids), array("Q")
        for part in batched(self.judged.reader.rows(EDGES, EDGE_ROWS), _PART):
            sources = self.judged.uids.find([edge.source for _, edge in part])
            targets = self.judged.uids.find([edge.target for _, edge in part])
            apart = of_home[sources // len(_LABELS)] != of_home[targets // len(_LABELS)]
            ids.extend(_end(edge) for _, edge in part)
            for (line, edge), source, target, strange in zip(part, sources, targets, apart, strict=True):
                self._edge(line, edge, int(source), int(target))
                if strange:
                    raise refusal(EDGES, "target: it is another tenant's than the source", line=line)
            if self.chains is not None:
                belonging.add(part)
                self.chains.require_neighbours(part)
            self._count(len(part))
        self._once(np.asarray(ids))
        if self.chains is not None:
            belonging.require_homes(self.roots)
            self.chains.require_whole()

    def _once(self, ends: NDArray[np.uint64]) -> None:
        """Refuse an edge that comes twice: of two the store would have one. ``ends`` are of the ids, eight bytes each.

        Those of two different edges may be the same, if hardly ever: so whole ids are compared then.
        """
        ends.sort()
        twice = set(ends[1:][ends[1:] == ends[:-1]].tolist())
        seen: set[str] = set()
        for line, edge in self.judged.reader.rows(EDGES, EDGE_ROWS) if twice else ():
            if _end(edge) in twice:
                if edge.id in seen:
                    raise refusal(EDGES, f"id: the edge {edge.id} comes twice", line=line)
                seen.add(edge.id)

    def _types(self) -> None:
        known = {one.name for one in self.registry}
        for declared in self.judged.reader.manifest.edge_types:
            if declared.name not in known:
                raise refusal(
                    NAME,
                    f"edge_types: {declared.name} is not registered here",
                    "Install the extension that registers it, and import the export again",
                )

    def _edge(self, line: int, edge: Edge, source: int, target: int) -> None:
        for end, uid, number in (("source", edge.source, source), ("target", edge.target, target)):
            if number < 0:
                raise refusal(EDGES, f"{end}: the export has no node {uid}", line=line)
        try:
            labels = _LABELS[source % len(_LABELS)], _LABELS[target % len(_LABELS)]
            self.registry.check(edge.type, *labels, field="type")
        except InvalidInputError as error:
            raise refusal(EDGES, error.detail, line=line) from error

    def records(self) -> None:
        """Judge what is beside the graph."""
        reader = self.judged.reader
        for line, counter in reader.rows(COUNTERS, COUNTER_ROWS):
            self._at_home(COUNTERS, line, counter)
        for line, unread in reader.rows(UNREAD, UNREAD_ROWS):
            self._at_home(UNREAD, line, unread)
        for line, step in reader.rows(STEPS, STEP_ROWS):
            self._at_home(STEPS, line, step)
        items = [row.item for _, row in reader.rows(UNREAD, UNREAD_ROWS)]
        for number in np.flatnonzero(self.judged.uids.find(items) < 0):
            raise refusal(UNREAD, f"item: the export has no node {items[number]}", line=int(number) + 1)
        if self.chains is not None:
            self.numbers.judge(reader)
        for line, receipt in reader.rows(RECEIPTS, RECEIPT_ROWS):
            if receipt.tenant not in self.judged.tenants:
                raise refusal(RECEIPTS, f"tenant: {receipt.tenant!r} is not in the export", line=line)
            self._count(1)
        for line, key in reader.rows(KEYS, KEY_ROWS):
            if problem := tenant_flaw(key.tenant):
                raise refusal(KEYS, f"tenant: {problem}", line=line)
            self._count(1)

    def uses(self) -> None:
        """Judge what answers have shown: items of their context, and often enough to be counted."""
        homes = list(self.judged.homes)
        for part in batched(self.judged.reader.rows(USES, USE_ROWS), _PART):
            numbers = self.judged.uids.find([use.item for _, use in part])
            for (line, use), number in zip(part, numbers, strict=True):
                self._at_home(USES, line, use)
                if number < 0 or homes[number // len(_LABELS)] != (use.tenant, use.context):
                    raise refusal(USES, f"item: the context has no node {use.item}", line=line)
                if use.times < 1:
                    raise refusal(USES, f"times: {use.times} is less than once", line=line)

    def _at_home(self, name: str, line: int, row: CounterRow | UnreadRow | UseRow | Step) -> None:
        if (row.tenant, row.context) not in self.judged.homes:
            raise refusal(name, f"context: {row.context!r} is not in the export", line=line)
        self._count(1)

    def embeddings(self) -> None:
        """Judge the vectors: each is a node's, and of norm 1."""
        for collection in self.judged.reader.embedded:
            ids, vectors = self.judged.reader.vectors(collection)
            name = f"embeddings/{collection}.ids.json"
            unknown = np.flatnonzero(_found(self.judged.uids, name, ids) < 0)
            if len(unknown):
                raise refusal(name, f"the export has no node {ids[unknown[0]]}, of row {unknown[0]}")
            if len(set(ids)) < len(ids):
                raise refusal(name, "an id comes twice")
            for start, end in pairwise([*range(0, len(ids), _PART), len(ids)]):
                norms = np.linalg.norm(vectors[start:end], axis=1)
                wrong = np.flatnonzero(~(np.abs(norms - 1) < _NORM_ERROR))
                if len(wrong):
                    raise refusal(f"embeddings/{collection}.npy", f"row {start + wrong[0]} is no unit vector")
                self._count(end - start)


def _end(edge: Edge) -> int:
    """Return the last 64 bits of an edge's id."""
    return int(edge.id[19:].replace("-", ""), 16)


def _found(uids: UidIndex, name: str, ids: list[str]) -> NDArray[np.int64]:
    try:
        return uids.find(ids)
    except ValueError as error:
        raise refusal(name, "an id is no UUID") from error
