"""How long a page of items takes: ``python tests/bench/item_list.py [ITEMS]``; ``--neo4j URL`` measures that server.

``--http`` measures ``GET /items`` of a served store instead: chats stored by the write path, without vectors and
extraction, a tenth of them with an importance. One client goes through the whole list a page of a hundred at a time, in
each order and direction, and reads each answer to its end. Prints milliseconds of a page: the median, the 95th of a
hundred, and the slowest, and the mean of the server's own CPU time; and the size of an answer. On Neo4j the server is
the retrieval service.

A tenant of so many items (100,000) in ten contexts, a tenth of them retired, most without an importance. Prints
milliseconds for a page of a hundred at places spread over the whole list, in each order and direction, over all
contexts and in one of them: the median, the 95th of a hundred, and the slowest; and the 95th of this process' CPU time,
which other work on the machine does not stretch. A named server is emptied first.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.fakes.embedding_server import serve_embeddings
from support.processes.platform import Service
from support.processes.server import environment
from support.servers.neo4j.server import parse
from support.stores.neo4j import empty_neo4j, open_neo4j
from vicw_bench.speed.server import RunningServer, serve
from vicw_bench.speed.synthetic import Chat
from vicw_core.filters.order import listing_place
from vicw_ingest.index.service import Indexer
from vicw_ingest.pipeline import IngestPorts, ingest
from vicw_runtime.indexes import Index, Indexes
from vicw_shared.embedding_models import DEFAULT_MODEL
from vicw_shared.model import EdgeRegistry, Label, Node
from vicw_shared.model.item_order import ItemOrder
from vicw_shared.ports import GraphTransaction, ListingQuery, ModelIdentity, Scope, Store
from vicw_shared.ports.item_filter import EVERY, ItemCondition, OneOf
from vicw_shared.settings import IngestSettings, LimitSettings
from vicw_shared.uids import make_uid
from vicw_shared.wire.ingest import Extract
from vicw_stores.data_dir import DataDir
from vicw_stores.null_engines import NullEmbedder, NullQueue, NullVectorStore
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
    if url is not None:
        empty_neo4j(parse(url))
        async with open_neo4j(parse(url), query_seconds=600) as neo4j:
            yield neo4j
        return
    with DataDir(folder) as data_dir:
        graph = SqliteGraphStore(data_dir, EdgeRegistry.with_core_types())
        yield graph
        await graph.close()


async def fill_as_ingested(graph: Store, items: int, tenant: str = "default") -> None:
    """Store so many messages by the write path. Their passages count as indexed, so that no indexer works beside."""
    registry = EdgeRegistry.with_core_types()

    async def no_vectors(model: ModelIdentity) -> Index:
        return Index(model, NullVectorStore(), NullEmbedder())

    indexer = Indexer(graph.outbox, Indexes(graph.record, no_vectors), 256, 1)
    limits = LimitSettings()
    ports = IngestPorts.of(graph, indexer, registry, limits, IngestSettings(), extractor=None, queue=NullQueue())
    for number, request in enumerate(Chat().requests(items, BATCH // 4)):
        told = tuple(
            one.model_copy(
                update={
                    "importance": one_of / 10 if one_of % 10 == 0 else None,
                    "metadata": {"house": one_of, "street": "Long Road"},
                    "tags": ("street",),
                }
            )
            for one_of, one in enumerate(request.items)
        )
        await ingest(request.model_copy(update={"items": told, "extract": Extract.NONE}), tenant, ports)
        while waiting := await graph.outbox.claim(1000, seconds=60):
            await graph.outbox.acknowledge(waiting)
        print(f"\rfilling: {(number + 1) * len(told)} of {items}", end="", file=sys.stderr)
    print(file=sys.stderr)


@asynccontextmanager
async def served(url: str | None, folder: Path) -> AsyncIterator[RunningServer]:
    """Serve the store by a process of its own."""
    if url is None:
        os.environ |= {"VICW_EMBEDDER": "none", "VICW_SLEEP_PAUSED": "true"}
        async with serve(folder, model=DEFAULT_MODEL, models_dir=folder / "models") as server:
            yield server
        return
    graph = parse(url)
    async with serve_embeddings("bench") as embedding:
        variables = environment(
            folder / "models",
            VICW_NEO4J_URL=graph.url,
            VICW_NEO4J_USER=graph.user,
            VICW_NEO4J_PASSWORD=graph.password,
            VICW_EMBEDDING_URL=embedding.url,
            VICW_PORT="0",
            PYTHONPATH=str(Path(__file__).parents[1]),
        )
        service = Service(folder, "retrieval", ["support.processes.retrieval_local_qdrant"], variables)
        try:
            await asyncio.to_thread(service.start)  # it asks the embedder, which this loop serves
            yield RunningServer(service.url, service.pid)
        finally:
            service.kill()


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def measure_pages(server: RunningServer, items: int) -> None:
    print(f"{'order':12} {'direction':9} {'pages':>6} {'p50':>7} {'p95':>7} {'most':>7} {'CPU':>6} ms {'KiB':>5}")
    async with httpx.AsyncClient(base_url=server.url, timeout=60, trust_env=False) as client:
        for order in ItemOrder:
            for direction in ("asc", "desc"):
                took: list[float] = []
                asked: dict[str, str | int] = {"order": order.value, "direction": direction, "limit": PAGE}
                listed, size, worked = 0, 0, cpu_seconds(server.pid)
                while True:
                    began = time.perf_counter()
                    answer = await client.get("/items", params=asked)
                    took.append((time.perf_counter() - began) * 1000)
                    page = answer.raise_for_status().json()
                    listed, size = listed + len(page["items"]), size + len(answer.content)
                    if page["next"] is None:
                        break
                    asked["cursor"] = page["next"]
                assert listed == items, f"{listed} of {items} items are listed"
                slow, pages = statistics.quantiles(took, n=20)[-1], len(took)
                own = (cpu_seconds(server.pid) - worked) / pages * 1000
                print(
                    f"{order:12} {direction:9} {pages:6} {statistics.median(took):7.1f} {slow:7.1f} {max(took):7.1f} "
                    f"{own:6.1f}    {size / pages / 1024:5.0f}"
                )


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("items", type=int, nargs="?", default=100_000)
    parser.add_argument("--neo4j", metavar="URL", help="bolt://user:password@host:port")
    parser.add_argument("--http", action="store_true", help="measure GET /items of a served store")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        async with opened(asked.neo4j, Path(folder)) as graph:
            began = time.perf_counter()
            if asked.http:
                await fill_as_ingested(graph, asked.items)
            else:
                live = await fill(graph, asked.items)
            print(f"{asked.items} items in {time.perf_counter() - began:.1f} s")
            if not asked.http:
                await measure(graph, live)
        if asked.http:
            async with served(asked.neo4j, Path(folder)) as server:
                await measure_pages(server, asked.items)


if __name__ == "__main__":
    asyncio.run(main())
