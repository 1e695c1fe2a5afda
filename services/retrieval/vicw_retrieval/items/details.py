"""One item with its passages, statements, subjects, edges and versions, as far as its viewer may see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from vicw_core.consolidation.ledger import LedgerEntry
from vicw_retrieval.access.visibility import Visibility
from vicw_retrieval.items.edge_proofs import EdgeProof, read_proofs, source_of
from vicw_retrieval.items.wire_fields import item_fields, named_thing
from vicw_retrieval.synthesis.results import edge_to_wire
from vicw_shared.model import EdgeRegistry, Label, Node
from vicw_shared.model.core5 import LEDGER
from vicw_shared.ports import Direction, GraphStore, Neighbour, Scope, Spread
from vicw_shared.uids import chunk_uid, item_uid
from vicw_shared.wire.items import ItemDetails, ItemEdge, ItemPassage, ItemStatement, ItemVersion

MAX_EDGES = 200
"""Edges of each type and direction that are shown."""
_MAX_PASSAGES = 10_000
_MAX_VERSIONS = 100
_OWN = frozenset({"BELONGS_TO", "EVIDENCED_BY"})
"""Edges that are shown as the item's context and passages."""


@dataclass(frozen=True, slots=True)
class FoundItem:
    """An item, and the item that stands for it if it was consolidated."""

    item: Node
    macro: str | None = None


@dataclass(frozen=True)
class ItemReader:
    """Reads items of a scope. What is retired is read, too."""

    graph: GraphStore
    scope: Scope
    registry: EdgeRegistry

    @cached_property
    def _visibility(self) -> Visibility:
        return Visibility(self.graph, self.scope, ignore_validity=True)

    async def by_id(self, context: str, source_id: str) -> FoundItem | None:
        """Return the latest version of a caller's item that is visible."""
        latest = await self.graph.items(self.scope.tenant, source_id, [context])
        if latest and (visible := await self._visibility.nodes(latest)):
            return FoundItem(visible[0])
        if latest:
            return None
        uids = [item_uid(self.scope.tenant, context, source_id, version) for version in range(_MAX_VERSIONS, 0, -1)]
        return await self._consolidated(uids)

    async def by_uid(self, uid: str) -> FoundItem | None:
        """Return the visible item with a uid, whether it was consolidated or not."""
        node = (await self.graph.nodes(self.scope.tenant, [uid])).get(uid)
        if node is None:
            return await self._consolidated([uid])
        is_item = node.content_hash is not None and node.label is not Label.CHUNK
        return FoundItem(node) if is_item and await self._visibility.nodes([node]) else None

    async def _consolidated(self, uids: Sequence[str]) -> FoundItem | None:
        """Return the first of these items that was consolidated: its passage has what the item was."""
        first = {chunk_uid(uid, 0): uid for uid in uids}
        passages = await self.graph.nodes(self.scope.tenant, list(first))
        for passage_uid in first:
            passage = passages.get(passage_uid)
            if passage is None or LEDGER not in passage.metadata:
                continue
            owner = (await self.graph.owners(self.scope.tenant, [passage_uid])).get(passage_uid)
            if owner is None or not await self._visibility.nodes([passage]):
                return None
            return FoundItem(LedgerEntry.load(str(passage.metadata[LEDGER])).item, owner.uid)
        return None

    async def details(self, found: FoundItem) -> ItemDetails:
        """Return everything that is known of an item and visible."""
        item = found.item
        passages = await self._passages(found)
        edges, complete = ([], True) if found.macro is not None else await self._edges(item)
        proofs = await read_proofs(self.graph, self.scope.tenant, edges, {item.uid: passages} if passages else {})
        about = [edge.node for edge in edges if edge.edge.type == "ABOUT" and edge.edge.source == item.uid]
        text = "\n\n".join(passage.text or "" for passage in passages) or None
        return ItemDetails(
            **item_fields(item, text, self.scope),
            passages=tuple(ItemPassage(uid=passage.uid, text=passage.text or "") for passage in passages),
            statements=tuple(await self._statements(passages)),
            about=tuple(named_thing(node) for node in sorted(about, key=lambda node: (node.name, node.uid))),
            trigger_phrases=item.trigger_phrases,
            edges=tuple(_edge(edge, proofs.get(edge.edge.id)) for edge in edges),
            edges_complete=complete,
            versions=tuple(await self._versions(item)),
            consolidated_into=found.macro,
            consolidates=item.items if item.is_macro else (),
        )

    async def _passages(self, found: FoundItem) -> list[Node]:
        if found.item.qdrant_id is None:
            return []
        owner = found.macro or found.item.uid
        proofs = await self.graph.expand(self.scope.tenant, [owner], [("EVIDENCED_BY", Direction.OUT)], _MAX_PASSAGES)
        passages = [proof.node for proof in proofs if proof.node.label is Label.CHUNK]
        if found.macro is not None:  # its proof are the passages of all that it stands for
            passages = [one for one in passages if one.uid == chunk_uid(found.item.uid, one.flow_step or 0)]
        return sorted(await self._visibility.nodes(passages), key=lambda one: (one.flow_step or 0, one.uid))

    async def _statements(self, passages: Sequence[Node]) -> list[ItemStatement]:
        uids = [passage.uid for passage in passages]
        proven = (
            await self.graph.expand(self.scope.tenant, uids, [("EVIDENCED_BY", Direction.IN)], _MAX_PASSAGES)
            if uids
            else []
        )
        said = await self._visibility.visible([one for one in proven if one.node.is_statement])
        order = {uid: number for number, uid in enumerate(uids)}
        said.sort(key=lambda one: (order[one.origin], one.node.flow_step or 0, one.node.uid))
        return [
            ItemStatement(
                uid=one.node.uid,
                text=one.node.text or one.node.name,
                passage=one.origin,
                timestamp=one.node.timestamp,
            )
            for one in said
        ]

    async def _edges(self, item: Node) -> tuple[list[Neighbour], bool]:
        """Return the item's visible edges, the heaviest of each kind; and whether these are all."""
        types = [edge_type.name for edge_type in self.registry if edge_type.name not in _OWN]
        spreads: list[Spread] = [(name, direction) for name in types for direction in Direction]
        edges = await self._visibility.expand([item.uid], spreads, MAX_EDGES + 1)
        shown: list[Neighbour] = []
        counts: dict[Spread, int] = {}
        for one in edges:
            kind = (one.edge.type, Direction.OUT if one.edge.source == item.uid else Direction.IN)
            counts[kind] = counts.get(kind, 0) + 1
            if counts[kind] <= MAX_EDGES:
                shown.append(one)
        return shown, len(shown) == len(edges)

    async def _versions(self, item: Node) -> list[ItemVersion]:
        """Return the versions of a caller's item, the latest first."""
        versions = [item]
        if item.source_id is not None and not item.is_macro:
            latest = await self.graph.items(self.scope.tenant, item.source_id, [item.context])
            newest = max([item.version, *(one.version for one in latest)])
            numbers = range(newest, max(0, newest - _MAX_VERSIONS), -1)
            uids = [item_uid(item.tenant, item.context, item.source_id, number) for number in numbers]
            stored = (await self.graph.nodes(self.scope.tenant, uids)) | {item.uid: item}
            versions = await self._visibility.nodes([stored[uid] for uid in uids if uid in stored])
        return [
            ItemVersion(uid=one.uid, version=one.version, created_at=one.created_at, retired_at=one.retired_at)
            for one in versions
        ]


def _edge(one: Neighbour, proof: EdgeProof | None) -> ItemEdge:
    return ItemEdge(
        **edge_to_wire(one.edge).model_dump(),
        other=named_thing(one.node),
        source_item=source_of(one.edge),
        proof=proof.passage if proof is not None else None,
        quote=proof.quote if proof is not None else None,
    )
