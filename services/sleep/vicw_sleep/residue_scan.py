"""Find residues of erased data: read a whole store and search it for the fingerprints of the erased texts. Read-only.

Data that was not erased may contain the same words: words of a remaining passage or item are not residues, wherever
else they appear. The uid of an item that was ingested again is not one either.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import batched

from vicw_shared.consolidation.ledger import entries_of
from vicw_shared.fingerprints import FingerprintFinder, Fingerprints, Mark, birth_of, id_spellings, spellings
from vicw_shared.model import Label, Node
from vicw_shared.model.core5 import LEDGER, OF_NOBODY
from vicw_shared.model.names import SLOT
from vicw_shared.ports import (
    Edges,
    Nodes,
    Receipt,
    Steps,
    Store,
    VectorStore,
    scan_pages,
)

_PAGE = 500
_APART = b"\0"
_POINT = "point"
_NAMED_ALIKE = frozenset({SLOT, "class", "function", "method"})
_OURS = frozenset({"uid", "qdrant_id", "metadata"})


@dataclass(slots=True)
class Residue:
    """Marks found, by place, and the marks that remaining data contains itself (``said``)."""

    finder: FingerprintFinder
    places: dict[str, set[Mark]] = field(default_factory=dict)
    said: set[Mark] = field(default_factory=set)

    @classmethod
    def of(cls, fingerprints: Fingerprints) -> Residue:
        """Return an empty result for these fingerprints."""
        return cls(FingerprintFinder(fingerprints))

    def scan(self, place: str, data: bytes) -> None:
        """Search the data of one place."""
        if found := self.finder.find(data):
            self.places.setdefault(place, set()).update(found)

    def scan_all(self, places: Sequence[tuple[str, bytes]]) -> None:
        """Search a page of places; search them one by one only if the joined data has a match."""
        if self.finder.find(_APART.join(data for _, data in places)):
            for place, data in places:
                self.scan(place, data)

    def left(self) -> list[str]:
        """Return the places with residues, in order."""
        return sorted(place for place, marks in self.places.items() if marks - self.said)

    def points(self) -> list[str]:
        """Return the points with residues."""
        return [uid for kind, _, uid in (place.partition(" ") for place in self.left()) if kind == _POINT]


async def scan_store(graph: Store, vectors: Sequence[VectorStore], remains: Residue) -> None:
    """Search all nodes, edges, receipts and steps of a graph, and the payloads of vector stores."""
    await _scan_nodes(graph, remains)
    async for edges in scan_pages(graph, Edges(), limit=_PAGE):
        told = [(f"edge {edge.id}", _plain(asdict(edge))) for edge, _, _ in edges]
        await asyncio.to_thread(remains.scan_all, told)
    await _scan_records(graph, remains)
    for store in vectors:
        await _scan_points(store, remains)
    if remains.left():  # an item ingested again during the scan may be named before its node was seen
        await _scan_nodes(graph, remains)


async def _scan_nodes(graph: Store, remains: Residue) -> None:
    for label in Label:
        async for page in scan_pages(graph, Nodes(label), limit=_PAGE):
            await asyncio.to_thread(_scan_page, page, remains)


def _scan_page(page: Sequence[Node], remains: Residue) -> None:
    told = [(f"{node.label} {node.uid}", _plain(asdict(node))) for node in page]
    there = list(page)
    stay = [node for node in page if _says(node) and node.version > OF_NOBODY]
    for node in page:
        if LEDGER in node.metadata:  # it is compressed
            for entry in entries_of([node]).values():
                kept = _APART.join([_plain(asdict(entry.item)), *(_plain(asdict(edge)) for edge in entry.edges)])
                told.append((f"ledger of {node.label} {node.uid}", kept))
                there.append(entry.item)
                stay += [entry.item] if entry.item.version > OF_NOBODY else []
    remains.scan_all(told)
    remains.said |= remains.finder.find(_APART.join(_spelled(_words(node)) for node in stay))
    _find_ingested_again(there, remains)


def _find_ingested_again(there: Sequence[Node], remains: Residue) -> None:
    """Note the uids of erased items that were ingested again: a reference to such a uid means the new item.

    A Macro-Event is recreated as it was, and names its sources, so its own uid is never a residue.
    """
    if not remains.finder.find(_APART.join(node.uid.encode() for node in there)):
        return
    for node in there:
        if node.version == OF_NOBODY or not remains.finder.find(birth_of(node).encode()):
            remains.said |= remains.finder.find(_APART.join(id_spellings(node.uid)))


def _says(node: Node) -> bool:
    """Return whether a node has words of its own.

    Nodes of attributes, classes, functions and methods have the same names wherever they occur, so they count, too.
    """
    return node.label is Label.CHUNK or node.content_hash is not None or node.subtype in _NAMED_ALIKE


async def _scan_records(graph: Store, remains: Residue) -> None:
    async with graph.archive.snapshot() as snapshot:
        for tenant in sorted({root.tenant for root in await snapshot.roots()}):
            after: Receipt | None = None
            while page := await snapshot.receipts(tenant, after=after, limit=_PAGE):
                after = page[-1]
                remains.scan_all([(f"receipt {one.key}", _plain(one.body)) for one in page])
    async for steps in scan_pages(graph, Steps()):
        remains.scan_all([(f"step {step.id}", _plain(asdict(step))) for step in steps])


async def rescan_points(vectors: Sequence[VectorStore], remains: Residue) -> None:
    """Search again the points that had residues: they may be up to date by now."""
    uids = remains.points()
    for uid in uids:
        del remains.places[f"{_POINT} {uid}"]
    for store in vectors:
        for batch in batched(uids, _PAGE):
            await asyncio.to_thread(remains.scan_all, _payload_text(await store.payloads(batch)))


async def _scan_points(store: VectorStore, remains: Residue) -> None:
    after: str | None = None
    while ids := await store.ids(after=after, limit=_PAGE):
        after = ids[-1]
        payloads = await store.payloads(ids)
        await asyncio.to_thread(remains.scan_all, _payload_text({uid: payloads.get(uid, {}) for uid in ids}))


def _payload_text(payloads: Mapping[str, Mapping[str, object]]) -> list[tuple[str, bytes]]:
    return [(f"{_POINT} {uid}", _plain([uid, payload])) for uid, payload in payloads.items()]


def _words(node: Node) -> str:
    """Return all words of a caller in a node, without its ledger, which describes other items, too."""
    told = {name: value for name, value in asdict(node).items() if name not in _OURS}
    metadata = {name: value for name, value in node.metadata.items() if name != LEDGER}
    return "\n".join(_strings([*told.values(), metadata]))


def _plain(told: object) -> bytes:
    """Return all strings as stored. Their spelling does not matter: marks match in every spelling."""
    return "\n".join(_strings(told)).encode()


def _strings(told: object) -> Iterable[str]:
    match told:
        case str():
            yield told
        case Mapping():
            for name, value in told.items():
                yield str(name)
                yield from _strings(value)
        case list() | tuple():
            for value in told:
                yield from _strings(value)
        case _ if told is not None:
            yield json.dumps(told, default=str)


def _spelled(text: str) -> bytes:
    """Return a text in all spellings that a file may contain."""
    return _APART.join(sorted(spellings(text)))
