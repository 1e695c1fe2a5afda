"""Erasure of items in one transaction of their context.

Items are first retired, as by a retraction, so that chains close and nodes with other support stay; then all their
nodes and edges are removed for good. Events with other sources follow these sources.

A consolidated item is restored first, with its neighbours, and its Macro-Event and summary are erased; the sleep cycle
may consolidate the others anew. Items whose ledgers may hold an edge to it are restored, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from vicw_core.consolidation.restore import Restorer
from vicw_ingest.erasure.orphans import drop_unproven_names, find_orphans, is_named_entity
from vicw_ingest.knowledge.page_graph import remove_pages
from vicw_ingest.versions.retirement import Retired, Retirement
from vicw_ingest.versions.shared_events import reattributed_events
from vicw_ingest.versions.supersession import Supersession
from vicw_shared.model import Edge, EdgeRegistry, Label, Node
from vicw_shared.model.chain import HAPPENED_AFTER, NEXT
from vicw_shared.model.core5 import CONSOLIDATED_ITEM, LEDGER
from vicw_shared.model.edges import AUTO_TAGGED
from vicw_shared.model.erased_steps import VACATED, flow_key, runs_of, steps_of
from vicw_shared.model.knowledge import folder_uid, is_knowledge, page_uid
from vicw_shared.ports import Direction, GraphTransaction
from vicw_shared.uids import chunk_uid, context_uid, is_uid, item_uid


async def record_erased_steps(transaction: GraphTransaction, root: Node, erased: Iterable[Node]) -> None:
    """Note the steps of a context's erased items."""
    flows: dict[str, set[int]] = {}
    for node in erased:
        if node.content_hash is not None and node.flow_id is not None and node.flow_step is not None:
            flows.setdefault(node.flow_id, set()).add(node.flow_step)
    if not flows:
        return
    stored = root.metadata.get(VACATED)
    noted = dict(stored) if isinstance(stored, Mapping) else {}
    counters = (await transaction.counters(sorted(flows))).flow_steps
    empty = []
    for flow, steps in flows.items():
        key = flow_key(root.tenant, root.context, flow)
        vacant = steps | steps_of(noted.pop(key, []))
        if _is_all(vacant, counters.get(flow, 0)):
            empty.append(flow)
        else:
            noted[key] = runs_of(vacant)
    metadata = {name: value for name, value in root.metadata.items() if name != VACATED}
    await transaction.put_nodes([replace(root, metadata=metadata | ({VACATED: noted} if noted else {}))])
    await transaction.drop_counters(empty)


def _is_all(steps: Collection[int], highest: int) -> bool:
    return len(steps) >= highest


@dataclass(frozen=True, slots=True)
class ErasureTransaction:
    """Erase items of one context inside one transaction."""

    transaction: GraphTransaction
    registry: EdgeRegistry
    now: datetime
    tenant: str
    context: str

    async def erase(self, uids: Sequence[str]) -> list[Node]:
        """Erase items with all their versions, and return all erased nodes. Unknown uids are ignored."""
        macros = await self._restore_consolidated(uids)
        items = await self._versions(uids)
        if not items:
            return macros
        live = [item for item in items if item.retired_at is None]
        retirement = Retirement(self.transaction, self.registry, self.now)
        retired = await retirement.retire(live, dict.fromkeys(item.uid for item in live))
        await remove_pages(self.transaction, self.registry, self.now, live)
        edges = await self._incident_edges([item.uid for item in items])
        item_edges = await self.transaction.edges_from_items([item.uid for item in items])
        parts = await self._parts(items, edges)
        own = {node.uid for node in (*items, *parts)}
        all_edges = (*retired.edges, *edges, *item_edges, *await self._incident_edges([part.uid for part in parts]))
        neighbours = {end for edge in all_edges for end in (edge.source, edge.target)} | retired.neighbours
        neighbours |= await self._folders(items, all_edges)
        neighbours -= own
        await retirement.retire_unsupported(Retired(all_edges, item_edges, frozenset(neighbours)), self.context)
        await Supersession(self.transaction, self.registry, self.now).apply(neighbours)
        await self.transaction.drop_edges(item_edges)
        await self.transaction.drop_nodes(sorted(own))
        proofs = [edge for edge in all_edges if edge.type == "EVIDENCED_BY" and edge.target in own]
        await self.transaction.put_nodes(
            await reattributed_events(self.transaction, {edge.source for edge in proofs} - own)
        )
        orphans = await self.drop_orphans(neighbours)
        for root in (await self.transaction.nodes([context_uid(self.tenant, self.context)])).values():
            await record_erased_steps(self.transaction, root, items)
        return [*macros, *items, *parts, *orphans]

    async def drop_orphans(self, neighbours: Collection[str]) -> list[Node]:
        """Drop and return the named entities that only erased nodes supported, and aliases that only these used."""
        orphans = await find_orphans(self.transaction, self.registry, self.context, neighbours)
        # Before the tags themselves: dropping these edges notifies copies of the items that had the auto-tags.
        auto = await self.transaction.edges(list(orphans), [AUTO_TAGGED], Direction.IN) if orphans else []
        await self.transaction.drop_edges(auto)
        await self.transaction.drop_nodes(list(orphans))
        remaining = (await self.transaction.nodes(sorted(set(neighbours) - orphans.keys()))).values()
        entities = [node for node in remaining if is_named_entity(node) and node.context == self.context]
        await self.transaction.put_nodes(await drop_unproven_names(self.transaction, self.registry, entities))
        return list(orphans.values())

    async def _restore_consolidated(self, uids: Sequence[str]) -> list[Node]:
        """Restore consolidated items, and return the Macro-Events and summaries that this removed."""
        removed: dict[str, Node] = {}
        while macros := await self._macros(uids):
            for macro in macros:
                summary = await self._summary(macro)
                await Restorer(self.transaction, self.registry, self.now).restore(macro)
                removed |= {node.uid: node for node in (macro, *summary)}
        return list(removed.values())

    async def _macros(self, uids: Sequence[str]) -> list[Node]:
        """Return the Macro-Events that contain one of these items, or have an edge to one other than the chains'."""
        stored = await self.transaction.nodes([*uids, *(chunk_uid(uid, 0) for uid in uids)])
        consolidated = [
            uid
            for uid in (chunk_uid(uid, 0) for uid in uids)
            if uid in stored and not stored[uid].metadata.keys().isdisjoint((LEDGER, CONSOLIDATED_ITEM))
        ]
        proofs = await self.transaction.edges(consolidated, ["EVIDENCED_BY"], Direction.IN) if consolidated else []
        versions = [item.uid for item in await self._versions(uids)]
        types = [t.name for t in self.registry if t.name not in {NEXT, HAPPENED_AFTER}]
        edges = [*await self.transaction.edges(versions, types), *await self.transaction.edges_from_items(versions)]
        ends = {proof.source for proof in proofs} | {end for edge in edges for end in (edge.source, edge.target)}
        nodes = await self.transaction.nodes(sorted(ends))
        return [node for node in nodes.values() if node.is_macro and node.context == self.context]

    async def _summary(self, macro: Node) -> list[Node]:
        proofs = await self.transaction.edges([macro.uid], ["EVIDENCED_BY"], Direction.OUT)
        own = {chunk_uid(macro.uid, n) for n in range(len(proofs))}
        return list((await self.transaction.nodes([p.target for p in proofs if p.target in own])).values())

    async def _versions(self, uids: Sequence[str]) -> list[Node]:
        """Return all stored versions of these items."""
        versions = {
            uid: n for uid, n in (await self.transaction.nodes(list(uids))).items() if n.content_hash is not None
        }
        # A patch of an item without an id makes its uid its id.
        ids = sorted({node.source_id or node.uid for node in versions.values()})
        latest = await self.transaction.items(ids)
        others = await self._first_versions(ids)
        others += [
            item_uid(self.tenant, self.context, source_id, version)
            for source_id, node in latest.items()
            for version in range(1, node.version + 1)
        ]
        versions |= await self.transaction.nodes([uid for uid in others if uid not in versions])
        return list(versions.values())

    async def _first_versions(self, ids: Sequence[str]) -> list[str]:
        """Return the uids among ids that are those of items without an id, which versions with the uid as id follow."""
        nodes = await self.transaction.nodes([one for one in ids if is_uid(one)])
        unnamed = [node.uid for node in nodes.values() if node.source_id is None and node.content_hash is not None]
        edges = await self.transaction.edges(unnamed, ["SUPERSEDES"], Direction.IN) if unnamed else []
        newer = await self.transaction.nodes([edge.source for edge in edges])
        return [edge.target for edge in edges if edge.source in newer and newer[edge.source].source_id == edge.target]

    async def _incident_edges(self, uids: Sequence[str]) -> list[Edge]:
        return await self.transaction.edges(uids, [t.name for t in self.registry]) if uids else []

    async def _parts(self, items: Iterable[Node], edges: Iterable[Edge]) -> list[Node]:
        """Return the passages of items, and the events that no other passage proves."""
        owners = {item.uid for item in items}
        passages = {edge.target for edge in edges if edge.type == "EVIDENCED_BY" and edge.source in owners}
        proofs = await self.transaction.edges(sorted(passages), ["EVIDENCED_BY"], Direction.IN)
        nodes = await self.transaction.nodes(sorted(passages | {proof.source for proof in proofs}))
        events = {uid for uid, n in nodes.items() if n.label is Label.EVENT and n.content_hash is None}
        all_proofs = await self.transaction.edges(sorted(events), ["EVIDENCED_BY"], Direction.OUT) if events else []
        events -= {proof.source for proof in all_proofs if proof.target not in passages}
        return [node for uid, node in nodes.items() if uid in passages | events]

    async def _folders(self, items: Iterable[Node], edges: Iterable[Edge]) -> set[str]:
        """Return the pages of these items and the folders above them, which may now be empty."""
        pages = {page_uid(self.tenant, self.context, item.source_id) for item in items if item.source_id}
        ends = {end for edge in edges for end in (edge.source, edge.target)}
        nodes = (await self.transaction.nodes(sorted(pages | ends))).values()
        paths = {(str(n.metadata["folder"]), str(n.metadata.get("path", ""))) for n in nodes if is_knowledge(n)}
        above = {
            folder_uid(self.tenant, self.context, folder, "/".join(path.split("/")[:depth]))
            for folder, path in paths
            for depth in range(len(path.split("/")) + 1)
        }
        return pages | above
