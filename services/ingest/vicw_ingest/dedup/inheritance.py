"""Inheritance of texts: when an item is retired, duplicates with their own ids take over its text.

They are items of their callers, who have not retracted them. A duplicate without an id was never stored.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from vicw_core.graph.edge_factory import DUPLICATE, EdgeFactory
from vicw_ingest.dedup.detector import DuplicateSource
from vicw_ingest.dedup.links import DERIVED_FROM, PASSAGES, duplicate_edge
from vicw_ingest.plan.builder import item_point, passages_of
from vicw_shared.model import Edge, EdgeRegistry, Node, Sensitivity
from vicw_shared.model.text_keys import text_key
from vicw_shared.ports import GraphTransaction
from vicw_shared.uids import context_uid
from vicw_shared.wire.ingest import Repetition


@dataclass(frozen=True, slots=True)
class Inheritance:
    """Give the texts of retired items to their duplicates inside one transaction."""

    transaction: GraphTransaction
    registry: EdgeRegistry
    now: datetime

    async def apply(self, retired: Sequence[Node], edges: Collection[Edge]) -> frozenset[str]:
        """Return the uids of the duplicates that received passages. ``edges`` are all edges of the retired items."""
        retired_uids = {item.uid for item in retired}
        copies = [e for e in edges if e.type == DERIVED_FROM and e.created_by == DUPLICATE and PASSAGES in e.properties]
        copies = [edge for edge in copies if edge.target in retired_uids and edge.source not in retired_uids]
        items = await self.transaction.nodes([edge.source for edge in copies])
        by_text: dict[tuple[str, ...], list[Node]] = {}
        for edge in copies:
            item = items[edge.source]
            if item.retired_at is None and item.is_duplicate:
                by_text.setdefault(_passages(edge), []).append(item)
        heirs: set[str] = set()
        for passages, duplicates in by_text.items():
            heirs |= await self._inherit(passages, sorted(duplicates, key=_sort_key))
        return frozenset(heirs)

    async def _inherit(self, passages: Sequence[str], duplicates: Sequence[Node]) -> set[str]:
        """Give a text to the first item. The others become its duplicates if it is visible to all, else get a copy."""
        stored = await self.transaction.nodes(passages)
        texts = [stored[uid].text or "" for uid in passages if uid in stored]
        if not texts:
            return set()
        first, *others = duplicates
        separate = [item for item in others if not _is_unrestricted(first)]
        heirs = [first, *separate]
        for item in heirs:
            await self._store_text(item, texts, stored[passages[0]].text_key)
        edge_factory = EdgeFactory(self.registry, self.now)
        chunks = tuple(chunk.uid for chunk in passages_of(first, texts, verbatim=False))
        source = DuplicateSource(first, Repetition.COPY, chunks)
        edges = [
            duplicate_edge(edge_factory, item.uid, source, may_take_over=True)
            for item in others
            if item not in separate
        ]
        await self.transaction.put_edges(edges)
        return {item.uid for item in heirs}

    async def _store_text(self, item: Node, texts: Sequence[str], key: str | None) -> None:
        verbatim = key == text_key(texts[0], verbatim=True)
        whole = text_key("".join(texts), verbatim=verbatim) if len(texts) > 1 else None
        item = replace(item_point(item, texts), text_key=whole)
        chunks = passages_of(item, texts, verbatim=verbatim)
        edge_factory, root = EdgeFactory(self.registry, self.now), context_uid(item.tenant, item.context)
        edges = [edge_factory.edge("EVIDENCED_BY", item.uid, chunk.uid) for chunk in chunks]
        edges += [edge_factory.edge("BELONGS_TO", chunk.uid, root) for chunk in chunks]
        await self.transaction.put_nodes([item, *chunks])
        await self.transaction.put_edges(edges)


def _passages(edge: Edge) -> tuple[str, ...]:
    value = edge.properties[PASSAGES]
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _is_unrestricted(item: Node) -> bool:
    return item.sensitivity is Sensitivity.PUBLIC and item.portable


def _sort_key(item: Node) -> tuple[bool, datetime, str]:
    """Return a sort key: items visible to all first, then the oldest."""
    return not _is_unrestricted(item), item.created_at, item.uid
