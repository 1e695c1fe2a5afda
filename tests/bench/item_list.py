"""How long a page of items takes: ``python tests/bench/item_list.py [ITEMS]``; ``--neo4j URL`` measures that server.

A tenant of so many items (100,000) in ten contexts, a tenth of them retired, most without an importance. Prints
milliseconds for a page of a hundred at places spread over the whole list, in each order and direction, over all
contexts and in one of them: the median, the 95th of a hundred, and the slowest; and the 95th of this process' CPU time,
which other work on the machine does not stretch. A named server is emptied first.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from vicw_core.filters.order import listing_place
from vicw_shared.model import EdgeRegistry, Label, Node
from vicw_shared.model.item_order import ItemOrder
from vicw_shared.ports import GraphTransaction, ListingQuery, Scope, Store
from vicw_shared.ports.item_filter import EVERY, ItemCondition, OneOf
from vicw_shared.settings import Neo4jSettings
from vicw_shared.uids import make_uid
from vicw_stores.data_dir import DataDir
from vicw_stores.neo4j import Neo4jGraphStore
from vicw_stores.sqlite import SqliteGraphStore

AT = datetime(2026, 1, 1, tzinfo=UTC)
PAGE, TIMES, BATCH, CONTEXTS = 100, 100, 2000, 10
_PLAIN = Node(
    uid="", label=Label.EVENT, tenant="t", context="c0", name="n", subtype="note", domain="general", created_at=AT
)
FILTERS: dict[str, ItemCondition] = {
    "none": EVERY,
    "one context": OneOf("context", ("c3",)),
    "1 % by metadata": OneOf("metadata.house", (7,)),
}


def item(number: int, draw: random.Random) -> Node:
    return replace(
        _PLAIN,
        uid=make_uid("item", str(number)),
        label=Label.EVENT if number % 5 else Label.ENTITY,
        context=f"c{number // BATCH % CONTEXTS}",
        content_hash="h",
        source_id=str(number),
        arrival=number + 1,
        created_at=AT + timedelta(seconds=number // 100),
        timestamp=AT - timedelta(minutes=draw.randrange(10**6)) if number % 5 else None,
        timestamp_inferred=number % 3 == 0,
        importance=draw.random() if number % 10 == 0 else None,
        metadata={"house": number % 100, "street": "Long Road"},
        retired_at=AT if number % 10 == 3 else None,
    )


async def fill(graph: Store, items: int, tenant: str = _PLAIN.tenant) -> list[Node]:
    draw, live = random.Random(0), []
    for start in range(0, items, BATCH):
        batch = [replace(item(number, draw), tenant=tenant) for number in range(start, min(start + BATCH, items))]
        live += [one for one in batch if one.retired_at is None]

        async def work(transaction: GraphTransaction, batch: list[Node] = batch) -> None:
            await transaction.put_nodes(batch)

        await graph.write(tenant, batch[0].context, work)
    return live


async def measure(graph: Store, live: list[Node]) -> None:
    scope, draw = Scope(tenant="t", now=AT + timedelta(days=30)), random.Random(1)
    print(f"{'filter':16} {'order':12} {'p50':>7} {'p95':>7} {'most':>7} {'CPU p95':>8} ms")
    for name, condition in FILTERS.items():
        for order in ItemOrder:
            took, worked = [], []
            for number in range(TIMES):
                query = ListingQuery(
                    scope=scope,
                    condition=condition,
                    order=order,
                    descending=bool(number % 2),
                    after=listing_place(order, draw.choice(live)) if number > 1 else None,
                )
                began, at_work = time.perf_counter(), time.process_time()
                await graph.list_items(query, PAGE)
                worked.append((time.process_time() - at_work) * 1000)
                took.append((time.perf_counter() - began) * 1000)
            slow, slow_work = statistics.quantiles(took, n=20)[-1], statistics.quantiles(worked, n=20)[-1]
            print(f"{name:16} {order:12} {statistics.median(took):7.1f} {slow:7.1f} {max(took):7.1f} {slow_work:8.1f}")


@asynccontextmanager
async def opened(url: str | None, folder: Path) -> AsyncIterator[Store]:
    registry = EdgeRegistry.with_core_types()
    if url is not None:
        graph: Store = await Neo4jGraphStore.open(Neo4jSettings(url=url, query_seconds=600), registry)
        yield graph
        await graph.close()
        return
    with DataDir(folder) as data_dir:
        graph = SqliteGraphStore(data_dir, registry)
        yield graph
        await graph.close()


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("items", type=int, nargs="?", default=100_000)
    parser.add_argument("--neo4j")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        async with opened(asked.neo4j, Path(folder)) as graph:
            began = time.perf_counter()
            live = await fill(graph, asked.items)
            print(f"{asked.items} items in {time.perf_counter() - began:.1f} s")
            await measure(graph, live)


if __name__ == "__main__":
    asyncio.run(main())
