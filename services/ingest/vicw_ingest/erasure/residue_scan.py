"""Find residues of erased data: read a whole store and search it for the fingerprints of the erased texts. Read-only.

Data that was not erased may contain the same words: words of a remaining passage or item are not residues, wherever
else they appear. The uid of an item that was ingested again is not one either. To spell all that remains in every form
costs many times the search itself. So it is done at once for the nodes in which something was found, which mostly
explains the other places, too, and for all the others only while something is not explained.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from itertools import batched
from typing import Any

from vicw_core.consolidation.ledger import LedgerEntry, entries_of
from vicw_ingest.erasure.fingerprints import (
    MIN_BYTES,
    FingerprintFinder,
    Fingerprints,
    Mark,
    creation_uid,
    id_spellings,
    spellings,
)
from vicw_shared.model import Label, Node
from vicw_shared.model.core5 import LEDGER, SYSTEM_VERSION
from vicw_shared.model.names import ATTRIBUTE
from vicw_shared.ports import Edges, Nodes, Receipt, Steps, Store, VectorStore, scan_pages

_PAGE = 500
_SEPARATOR = b"\0"
_POINT = "point"
_COMMON_NAMES = frozenset({ATTRIBUTE, "class", "function", "method"})
"""Subtypes of nodes that have the same names wherever they occur."""
_INTERNAL_FIELDS = frozenset({"uid", "qdrant_id", "metadata"})


@dataclass(slots=True)
class Residue:
    """Marks found, by place, and those that remaining data contains itself (``live``)."""

    finder: FingerprintFinder
    places: dict[str, set[Mark]] = field(default_factory=dict)
    live: set[Mark] = field(default_factory=set)

    @classmethod
    def of(cls, fingerprints: Fingerprints) -> Residue:
        """Return an empty result for these fingerprints."""
        return cls(FingerprintFinder(fingerprints))

    def scan(self, place: str, data: bytes) -> None:
        """Search the data of one place."""
        if marks := self.finder.find(data):
            self.places.setdefault(place, set()).update(marks)

    def scan_all(self, places: Sequence[tuple[str, bytes]]) -> bool:
        """Search a page of places, one by one only if the joined data has a match; return whether it has."""
        if not self.finder.find(_SEPARATOR.join(data for _, data in places)):
            return False
        for place, data in places:
            self.scan(place, data)
        return True

    def keep(self, nodes: Iterable[Node]) -> None:
        """Note the marks that these remaining nodes contain in any spelling."""
        self.live |= self.finder.find(_SEPARATOR.join(_spelled(text) for node in nodes for text in _words(node)))

    def residual_places(self) -> list[str]:
        """Return the places with residues, in order."""
        return sorted(place for place, marks in self.places.items() if marks - self.live)

    def points(self) -> list[str]:
        """Return the points with residues."""
        return [uid for kind, _, uid in (place.partition(" ") for place in self.residual_places()) if kind == _POINT]


async def scan_store(graph: Store, vectors: Sequence[VectorStore], residue: Residue) -> None:
    """Search all nodes, edges, receipts and steps of a graph, and the payloads of vector stores."""
    await _scan_nodes(graph, residue)
    async for edges in scan_pages(graph, Edges(), limit=_PAGE):
        texts = [(f"edge {edge.id}", _stored_text(edge)) for edge, _, _ in edges]
        await asyncio.to_thread(residue.scan_all, texts)
    await _scan_records(graph, residue)
    for store in vectors:
        await _scan_points(store, residue)
    if residue.residual_places():  # an item ingested again during the scan may be named before its node was seen
        await _scan_nodes(graph, residue)
    await explain(graph, residue)


async def explain(graph: Store, residue: Residue) -> None:
    """Note what remaining nodes contain in any spelling, until no place has a residue or all of them are read."""
    for label in Label:
        async for page in scan_pages(graph, Nodes(label), limit=_PAGE):
            if not residue.residual_places():
                return
            await asyncio.to_thread(residue.keep, [node for _, node in _with_ledgers(page) if _remains(node)])


async def _scan_nodes(graph: Store, residue: Residue) -> None:
    for label in Label:
        async for page in scan_pages(graph, Nodes(label), limit=_PAGE):
            await asyncio.to_thread(_scan_page, page, residue)


def _scan_page(page: Sequence[Node], residue: Residue) -> None:
    places = [(f"{node.label} {node.uid}", _stored_text(node)) for node in page]
    nodes = list(_with_ledgers(page))
    places += [(f"ledger of {of.label} {of.uid}", ledger) for of in page for ledger in _ledger_texts(of)]
    if residue.scan_all(places):
        found = residue.places.keys()
        residue.keep(node for place, node in nodes if place in found and _remains(node))
    _find_ingested_again([node for _, node in nodes], residue)


def _with_ledgers(page: Sequence[Node]) -> Iterator[tuple[str, Node]]:
    """Yield each node, and the items that its ledger holds, with the place where they stand."""
    for node in page:
        yield f"{node.label} {node.uid}", node
        for entry in _entries(node):
            yield f"ledger of {node.label} {node.uid}", entry.item


def _ledger_texts(node: Node) -> Iterator[bytes]:
    for entry in _entries(node):
        yield _SEPARATOR.join([_stored_text(entry.item), *(_stored_text(edge) for edge in entry.edges)])


def _entries(node: Node) -> Iterable[LedgerEntry]:
    return entries_of([node]).values() if LEDGER in node.metadata else ()  # it is compressed


def _find_ingested_again(nodes: Sequence[Node], residue: Residue) -> None:
    """Note the uids of erased items that were ingested again: such a uid refers to the new item.

    A Macro-Event is recreated as it was, and names its sources, so its own uid is never a residue.
    """
    if not residue.finder.find(_SEPARATOR.join(node.uid.encode() for node in nodes)):
        return
    for node in nodes:
        if node.version == SYSTEM_VERSION or not residue.finder.find(creation_uid(node).encode()):
            residue.live |= residue.finder.find(_SEPARATOR.join(id_spellings(node.uid)))


def _remains(node: Node) -> bool:
    """Return whether a node has words of its own, or one of ``_COMMON_NAMES``, and is none that the program made."""
    has_words = node.label is Label.CHUNK or node.content_hash is not None or node.subtype in _COMMON_NAMES
    return has_words and node.version > SYSTEM_VERSION


async def _scan_records(graph: Store, residue: Residue) -> None:
    async with graph.archive.snapshot() as snapshot:
        for tenant in sorted({root.tenant for root in await snapshot.roots()}):
            after: Receipt | None = None
            while page := await snapshot.receipts(tenant, after=after, limit=_PAGE):
                after = page[-1]
                residue.scan_all([(f"receipt {one.key}", _stored_text(one.body)) for one in page])
    async for steps in scan_pages(graph, Steps(with_feedback=True)):
        residue.scan_all([(f"step {step.id}", _stored_text(step)) for step in steps])


async def rescan_points(vectors: Sequence[VectorStore], residue: Residue) -> None:
    """Search again the points that had residues: they may be up to date by now."""
    uids = residue.points()
    for uid in uids:
        del residue.places[f"{_POINT} {uid}"]
    for store in vectors:
        for batch in batched(uids, _PAGE):
            await asyncio.to_thread(residue.scan_all, _payload_text(await store.payloads(batch)))


async def _scan_points(store: VectorStore, residue: Residue) -> None:
    after: str | None = None
    while ids := await store.ids(after=after, limit=_PAGE):
        after = ids[-1]
        payloads = await store.payloads(ids)
        await asyncio.to_thread(residue.scan_all, _payload_text({uid: payloads.get(uid, {}) for uid in ids}))


def _payload_text(payloads: Mapping[str, Mapping[str, object]]) -> list[tuple[str, bytes]]:
    return [(f"{_POINT} {uid}", _stored_text([uid, payload])) for uid, payload in payloads.items()]


def _words(node: Node) -> list[str]:
    """Return all texts of a caller in a node, as a whole and one by one, without its ledger: it has other items.

    The words of a full text depend on the language of the text that they are of, so each is spelled by itself, too.
    """
    own = [getattr(node, name) for name in _names_of(Node) if name not in _INTERNAL_FIELDS]
    metadata = {name: value for name, value in node.metadata.items() if name != LEDGER}
    texts = list(_strings([*own, metadata]))
    return ["\n".join(texts), *dict.fromkeys(text for text in texts if len(text) >= MIN_BYTES // 4)]


def _stored_text(value: object) -> bytes:
    """Return all strings as stored. Their spelling does not matter: marks match in every spelling."""
    return "\n".join(_strings(value)).encode()


def _strings(value: object) -> Iterable[str]:
    """Yield all strings in a value, and how all else but None is written; of a dataclass without a copy of it."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, member in value.items():
            yield str(name)
            yield from _strings(member)
    elif isinstance(value, list | tuple):
        for member in value:
            yield from _strings(member)
    elif is_dataclass(of := type(value)):
        for name in _names_of(of):
            yield from _strings(getattr(value, name))
    elif value is not None:
        yield str(value)


@cache
def _names_of(of: Any) -> tuple[str, ...]:
    return tuple(each.name for each in fields(of))


def _spelled(text: str) -> bytes:
    """Return a text in all spellings that a file may contain."""
    return _SEPARATOR.join(sorted(spellings(text)))
