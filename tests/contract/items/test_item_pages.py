"""Pages of items by their cursor: each item that lives through the listing comes exactly once, whatever is written."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

import pytest

from support.generators.example_count import TIMES
from support.stores.graph_records import AT, Graph, node, put
from vicw_retrieval.items.service import list_items
from vicw_retrieval.ports import RetrievalPorts
from vicw_retrieval.request.engines import CircuitBreaker
from vicw_shared.model import Label, Node
from vicw_shared.model.item_order import ItemOrder
from vicw_shared.ports import GraphTransaction
from vicw_shared.settings import LimitSettings, RetrievalSettings
from vicw_shared.wire.items import ItemsQuery


class Store:
    """Items of few different times and importances, which change between the pages."""

    def __init__(self, graph: Graph, draw: random.Random) -> None:
        self.graph = graph
        self.draw = draw
        self.live: dict[str, Node] = {}
        self._made = 0

    async def add(self, count: int) -> None:
        items = [self._item() for _ in range(count)]
        self.live |= {item.uid: item for item in items}
        await put(self.graph, items)

    def _item(self) -> Node:
        draw = self.draw
        self._made += 1
        return node(
            f"item {self._made}",
            draw.choice((Label.EVENT, Label.ENTITY)),
            content_hash="h",
            arrival=draw.choice((None, 1, 2, self._made)),
            created_at=AT + timedelta(days=draw.randrange(2)),
            timestamp=draw.choice((None, AT, AT + timedelta(microseconds=1))),
            timestamp_inferred=draw.random() < 0.3,
            importance=draw.choice((None, None, 0.1, 0.7)),
        )

    async def disturb(self, ends: str) -> None:
        """Add, delete, retire or change items, among them perhaps the one at which a page ``ends``."""
        draw = self.draw
        await self.add(draw.randrange(4))
        for uid in {draw.choice(list(self.live)), *([ends] if draw.random() < 0.5 else [])} & self.live.keys():
            match draw.randrange(3):
                case 0:
                    del self.live[uid]
                    await self.graph.write("t", "c", lambda one, uid=uid: _drop(one, uid))  # type: ignore[misc]
                case 1:
                    await put(self.graph, [replace(self.live.pop(uid), retired_at=AT)])
                case _:
                    self.live[uid] = replace(self.live[uid], name=f"{self.live[uid].name}, changed")
                    await put(self.graph, [self.live[uid]])


async def _drop(transaction: GraphTransaction, uid: str) -> None:
    await transaction.drop_nodes([uid])


@pytest.mark.parametrize("direction", ["asc", "desc"])
@pytest.mark.parametrize("order", list(ItemOrder))
async def test_each_item_that_stays_comes_once_whatever_is_written(
    graph: Graph, order: ItemOrder, direction: str
) -> None:
    nobody = cast(Any, None)  # a listing needs no vectors
    ports = RetrievalPorts(graph, nobody, nobody, "", LimitSettings(), RetrievalSettings(), CircuitBreaker())
    for seed in range(TIMES):
        store = Store(graph, random.Random(f"{seed} {order} {direction}"))
        await graph.write("t", "c", _drop_all(await _uids(ports)))
        await store.add(30)
        stayed, seen = set(store.live), Counter[str]()
        query = ItemsQuery.model_validate({"order": order, "direction": direction, "limit": store.draw.choice((2, 4))})
        for _ in range(300):
            page = await list_items(query, "t", ports)
            assert {item.uid for item in page.items} <= store.live.keys(), "what was deleted or retired is not listed"
            seen.update(item.uid for item in page.items)
            if page.next is None:
                break
            await store.disturb(page.items[-1].uid)
            stayed &= store.live.keys()
            query = query.model_copy(update={"cursor": page.next})
        assert page.next is None
        assert stayed <= seen.keys()
        assert set(seen.values()) == {1}


async def _uids(ports: RetrievalPorts) -> list[str]:
    return [item.uid for item in (await list_items(ItemsQuery(limit=1000, include="retired"), "t", ports)).items]


def _drop_all(uids: list[str]) -> Any:
    async def work(transaction: GraphTransaction) -> None:
        await transaction.drop_nodes(uids)

    return work
