"""Restore the sources of a Macro-Event unchanged. Edges added to the Macro-Event later move to the last source."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce

from vicw_core.consolidation.edge_transfer import CHAINS, EdgeTransfer, merge_parallel_edges
from vicw_core.consolidation.ledger import LedgerEntry, entries_of, without_entry
from vicw_core.graph.chains import Chains
from vicw_core.graph.dreams import dream_edges, drop_dream_edges
from vicw_shared.model import Edge, EdgeRegistry, Node
from vicw_shared.model.core5 import CONSOLIDATED_ITEM, LEDGER
from vicw_shared.ports import Direction, GraphTransaction
from vicw_shared.uids import chunk_uid


@dataclass(frozen=True, slots=True)
class RestoredItems:
    """The restored ``items``, and the points of the summary passages that were deleted."""

    items: tuple[Node, ...] = ()
    deleted_points: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Restorer:
    """Restores the sources of Macro-Events inside one transaction."""

    transaction: GraphTransaction
    registry: EdgeRegistry
    now: datetime

    async def restore_items(self, source_ids: Sequence[str]) -> RestoredItems:
        """Restore the consolidated items with these ids, at any level, and the other sources of their Macro-Events."""
        return await self._restore_proven_by(lambda: self.transaction.consolidated(source_ids))

    async def restore_uids(self, uids: Sequence[str]) -> RestoredItems:
        """As ``restore_items``, for items by their uids."""

        async def passages() -> dict[str, Node]:
            nodes = await self.transaction.nodes([chunk_uid(uid, 0) for uid in uids])
            return {uid: node for uid, node in nodes.items() if LEDGER in node.metadata}

        return await self._restore_proven_by(passages)

    async def _restore_proven_by(self, find_passages: Callable[[], Awaitable[Mapping[str, Node]]]) -> RestoredItems:
        """Restore level by level, until no first passage of a consolidated item is found any more."""
        items: dict[str, Node] = {}
        deleted: list[str] = []
        while passages := await find_passages():
            proofs = await self.transaction.edges(
                [passage.uid for passage in passages.values()], ["EVIDENCED_BY"], Direction.IN
            )
            owners = await self.transaction.nodes(sorted({edge.source for edge in proofs}))
            macros = [owner for owner in owners.values() if owner.is_macro]
            if not macros:
                break  # the passage no longer has a Macro-Event, so its entry is unused
            for macro in macros:
                done = await self.restore(macro)
                items |= {item.uid: item for item in done.items}
                items.pop(macro.uid, None)
                deleted += done.deleted_points
        return RestoredItems(tuple(items.values()), tuple(deleted))

    async def restore(self, macro: Node) -> RestoredItems:
        """Replace a Macro-Event by its sources."""
        edges = await self.transaction.edges([macro.uid], [t.name for t in self.registry])
        dreamt = dream_edges(edges)
        await drop_dream_edges(self.transaction, dreamt, self.now)
        edges = [edge for edge in edges if edge not in dreamt]
        extracted = await self.transaction.edges_from_items([macro.uid])
        proofs = [edge.target for edge in edges if edge.type == "EVIDENCED_BY" and edge.source == macro.uid]
        passages = await self.transaction.nodes(proofs)
        direct = macro.metadata.get("sources")
        assert isinstance(direct, list)
        by_uid = {uid: entry for uid, entry in entries_of(list(passages.values())).items() if uid in direct}
        entries = [by_uid[uid] for uid in direct if uid in by_uid]
        summary = [uid for uid in proofs if uid in {chunk_uid(macro.uid, n) for n in range(len(proofs))}]
        items = [entry.item for entry in entries]
        restored = await self._restored(macro, entries, {e.id: e for e in (*edges, *extracted)}, {macro.uid, *summary})
        chains = Chains(self.transaction, self.registry, self.now)
        await chains.unlink([macro.uid])
        await self.transaction.drop_edges(extracted)
        await self.transaction.transfer_uses([macro.uid], [item.uid for item in items])
        await self.transaction.drop_nodes([macro.uid, *summary])
        linked = await chains.place(items)
        proof = [passage for uid, passage in passages.items() if uid not in summary]
        freed = {passage.uid: passage for passage in _without_proofs(proof, entries)}
        # An item is indexed when its first passage is, which may wait for its vector.
        waiting = {uid for uid, passage in freed.items() if not passage.indexed}
        items = [replace(item, indexed=False) if item.qdrant_id in waiting else item for item in items]
        await self.transaction.put_nodes([*items, *freed.values()])
        await self.transaction.put_edges([*restored, *linked])
        return RestoredItems(tuple(items), tuple(summary))

    async def _restored(
        self, macro: Node, entries: Sequence[LedgerEntry], present: Mapping[str, Edge], deleted: Collection[str]
    ) -> list[Edge]:
        """Return the earlier edges that are still valid, and the later edges, moved to the last source.

        An earlier edge is valid if it has not been removed from the Macro-Event and both of its ends are stored.
        """
        sources = frozenset(entry.item.uid for entry in entries)
        transfer = EdgeTransfer(self.registry, sources, macro.uid)
        earlier: dict[str, Edge] = {}
        accounted: set[str] = set()
        for edge in (edge for entry in entries for edge in entry.edges):
            moved = transfer.move(edge)
            accounted |= {moved.id} if moved is not None else set()
            if moved is None or moved.id in present:
                earlier[edge.id] = edge
        last = EdgeTransfer(self.registry, {macro.uid}, entries[-1].item.uid)
        later = [edge for uid, edge in present.items() if uid not in accounted and edge.type not in CHAINS]
        new = [moved for edge in later if (moved := last.move(edge)) is not None]
        return await self._still_valid([*earlier.values(), *new], sources, deleted)

    async def _still_valid(
        self, edges: Iterable[Edge], restored: Collection[str], deleted: Collection[str]
    ) -> list[Edge]:
        edges = merge_parallel_edges(edges)
        ends = {end for edge in edges for end in (edge.source, edge.target)} - set(restored)
        stored = (await self.transaction.nodes(sorted(ends))).keys() - set(deleted)
        return [edge for edge in edges if {edge.source, edge.target} <= stored | set(restored)]


def _without_proofs(passages: Iterable[Node], entries: Sequence[LedgerEntry]) -> list[Node]:
    """Return the passages without the ledger data of these entries.

    All of them are returned, since each proves another item now, and its payload has to name that item.
    """
    return [reduce(_without, entries, passage) for passage in passages]


def _without(passage: Node, entry: LedgerEntry) -> Node:
    own = {*entry.light, entry.item.qdrant_id}
    is_its = passage.uid in own or passage.metadata.get(CONSOLIDATED_ITEM) == entry.item.uid
    return without_entry(passage, entry) if is_its else passage
