"""Answers while the graph is down, built from the copy in the vector store's payloads.

Only live and public items are returned then: wider access can be decided by the graph only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NoReturn, cast

from vicw_shared.clock import from_ms
from vicw_shared.errors import UnavailableError
from vicw_shared.model import Label, Node
from vicw_shared.ports import (
    GraphStore,
    ItemRef,
    NameQuery,
    Neighbour,
    PassageTimes,
    Spread,
    TermFrequencies,
    VectorStore,
    WeightedNeighbour,
)


def payload_graph(vectors: VectorStore) -> GraphStore:
    """Return the graph of one request that knows the passages found and their items, but no edge.

    Operations that it cannot answer raise UnavailableError.
    """
    return cast("GraphStore", _PayloadGraph(vectors))


class _PayloadGraph:
    def __init__(self, vectors: VectorStore) -> None:
        self._vectors = vectors
        self._nodes: dict[str, Node] = {}
        self._texts: dict[str, str] = {}
        self._items: dict[str, ItemRef] = {}
        self._read_passages: set[str] = set()

    def __getattr__(self, operation: str) -> NoReturn:
        raise UnavailableError("graph", "is down")

    async def owners(self, tenant: str, chunk_uids: Sequence[str]) -> dict[str, ItemRef]:
        """Return the items of passages, by their payloads."""
        await self._read(tenant, chunk_uids)
        return {uid: self._items[uid] for uid in chunk_uids if uid in self._items}

    async def nodes(self, tenant: str, uids: Sequence[str]) -> dict[str, Node]:
        """Return the items that ``owners`` has read."""
        return {uid: self._nodes[uid] for uid in uids if uid in self._nodes}

    async def texts(self, tenant: str, uids: Sequence[str]) -> dict[str, str]:
        """Return the texts of passages."""
        await self._read(tenant, uids)
        return {uid: self._texts[uid] for uid in uids if uid in self._texts}

    async def _read(self, tenant: str, passages: Sequence[str]) -> None:
        """Read the payloads of passages that were not read yet: the graph is that of one request."""
        unread = [uid for uid in dict.fromkeys(passages) if uid not in self._read_passages]
        if not unread:
            return
        for passage, payload in (await self._vectors.payloads(unread)).items():
            if payload.get("tenant") != tenant or not isinstance(payload.get("item"), str):
                continue
            node = _node_of(payload)
            self._nodes[node.uid] = node
            self._texts[passage] = str(payload.get("text", ""))
            self._items[passage] = ItemRef.of(node)
        self._read_passages.update(unread)

    async def frequencies(self, tenant: str, contexts: Sequence[str] | None, terms: Sequence[int]) -> TermFrequencies:
        """Return nothing: all terms weigh the same."""
        return TermFrequencies()

    async def expand(
        self, tenant: str, uids: Sequence[str], spreads: Sequence[Spread], limit: int, *, among: int | None = None
    ) -> list[Neighbour]:
        """Return nothing: payloads have no edges."""
        return []

    async def weighted_neighbours(
        self, tenant: str, uids: Sequence[str], spread: Spread, limit: int, *, among: int | None = None
    ) -> list[WeightedNeighbour]:
        """Return nothing: payloads have no edges."""
        return []

    async def find_names(
        self, tenant: str, queries: Sequence[NameQuery], *, contexts: Sequence[str] | None = None
    ) -> list[dict[str, list[Node]]]:
        """Return nothing: payloads have no names of entities."""
        return [{} for _ in queries]

    async def triggered(
        self, tenant: str, phrases: Sequence[str], *, contexts: Sequence[str] | None = None, limit: int
    ) -> list[Node]:
        """Return nothing: payloads have no trigger phrases."""
        return []

    async def between(
        self,
        tenant: str,
        start: datetime,
        end: datetime,
        *,
        contexts: Sequence[str] | None = None,
        limit: int,
        earliest: bool = False,
    ) -> list[Node]:
        """Return the latest of that time's items that ``owners`` has read: the vector store has no index by time."""
        allowed_contexts = None if contexts is None else set(contexts)
        nodes = [
            node
            for node in self._nodes.values()
            if (allowed_contexts is None or node.context in allowed_contexts)
            and node.retired_at is None
            and node.timestamp is not None
            and start <= node.timestamp < end
        ]
        return sorted(nodes, key=lambda node: (node.timestamp, node.uid), reverse=not earliest)[:limit]

    async def stated_between(self, *_: object, **__: object) -> list[Node]:
        """Return nothing: payloads have no times of statements."""
        return []

    async def stated_times(self, *_: object) -> dict[str, list[PassageTimes]]:
        """Return nothing: payloads have no times of statements."""
        return {}


def _node_of(payload: Mapping[str, Any]) -> Node:
    timestamp = _instant(payload, "timestamp")
    label = payload.get("item_label") or (Label.EVENT if timestamp is not None else Label.ENTITY)
    return Node(
        uid=payload["item"],
        label=Label(label),
        tenant=payload["tenant"],
        context=payload["context"],
        name=payload.get("name", ""),
        subtype=payload.get("subtype", ""),
        domain=payload["domain"],
        created_at=from_ms(payload["created_at"]),
        source_id=payload.get("source_id"),
        tags=tuple(payload.get("tags", ())),
        timestamp=timestamp,
        retired_at=_instant(payload, "retired_at"),
        valid_to=_instant(payload, "valid_to"),
        superseded_at=_instant(payload, "superseded_at"),
        expires_at=_instant(payload, "expires_at"),
        flow_id=payload.get("flow_id"),
        importance=payload.get("importance"),
    )


def _instant(payload: Mapping[str, Any], field: str) -> Any:
    value = payload.get(field)
    return from_ms(value) if value is not None else None
