"""``python tests/bench/platform_speed.py``: how fast the services apart answer and store, over real servers.

Servers come from where the tests take them (VICW_TEST_NEO4J_URL …, Docker, this machine). The memory is filled through
the real write path with random vectors, which search as fast as a model's and mean nothing; questions are embedded by
the real model. A Neo4j that is not empty is refused.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from apart.running import Platform
from servers.neo4j.server import NEO4J
from servers.qdrant import QDRANT
from servers.redis import REDIS
from servers.run import Run
from vicw_embedding import minilm
from vicw_ingest.indexing import Indexer
from vicw_ingest.pipeline import IngestPorts, ingest
from vicw_ingest.pressure import Pressure
from vicw_shared.adapters.neo4j import Neo4jGraphStore
from vicw_shared.adapters.openai_embedder import OpenAIEmbedder
from vicw_shared.adapters.qdrant import QdrantCollections, QdrantVectorStore, connect
from vicw_shared.indexes import Index, Indexes
from vicw_shared.model import EdgeRegistry, Label
from vicw_shared.ports import ModelIdentity
from vicw_shared.settings import IngestSettings, LimitSettings, Neo4jSettings, QdrantSettings
from vicw_standalone.bench.ingest_speed import embed_all, post_all
from vicw_standalone.bench.seeded import SeededEmbedder
from vicw_standalone.bench.speed import ask
from vicw_standalone.bench.synthetic import Chat

WARM_UP = 50
REQUEST_ITEMS = 500
ROUNDS = 3


async def fill(platform: Platform, model: ModelIdentity, memories: int) -> float:
    """Store so many messages; return the seconds it took."""
    variables = platform.variables
    neo4j = Neo4jSettings(
        url=variables["VICW_NEO4J_URL"],
        user=variables["VICW_NEO4J_USER"],
        password=variables["VICW_NEO4J_PASSWORD"],
    )
    registry = EdgeRegistry.with_core_types()
    graph = await Neo4jGraphStore.open(neo4j, registry)
    if await graph.page(Label.CONTEXT, after=None, limit=1):
        raise SystemExit("the Neo4j is not empty: name another")
    client = connect(QdrantSettings(url=variables["VICW_QDRANT_URL"]))
    collection = await QdrantCollections(client, variables["VICW_QDRANT_ALIAS"]).open(model)
    await graph.set_model(model)
    index = Index(model, QdrantVectorStore(client, collection.name), SeededEmbedder(model))

    async def opener(_: ModelIdentity) -> Index:
        return index

    indexes = Indexes(graph, opener)
    await indexes.open()
    settings = IngestSettings()
    indexer = Indexer(graph, indexes, 256, settings.max_tries)
    ports = IngestPorts(
        graph=graph,
        record=graph,
        outbox=graph,
        indexer=indexer,
        queue=indexer,
        pressure=Pressure.of(graph, settings),
        registry=registry,
        limits=LimitSettings(),
        settings=settings,
    )
    began, done = time.monotonic(), 0
    for request in Chat().requests(memories, REQUEST_ITEMS):
        await ingest(request.model_copy(update={"wait": False}), "default", ports)
        await indexer.drain()
        done += len(request.items)
        print(f"\rfilling: {done} of {memories}", end="", file=sys.stderr)
    print(file=sys.stderr)
    await indexes.close()
    await graph.close()
    return time.monotonic() - began


async def answers(platform: Platform, queries: int) -> None:
    """Print how long questions take, and their stages."""
    asked = Chat().questions(WARM_UP + 2 * queries)
    await ask(platform.retrieval.url, asked[:WARM_UP], 1)
    print(f"\n{'ms':24}{'p50':>8}{'p95':>8}{'p99':>8}")
    for number, clients in enumerate((1, 8)):
        start = WARM_UP + number * queries
        latency = await ask(platform.retrieval.url, asked[start : start + queries], clients)
        print(f"{f'{clients} client(s)':24}{latency.p50_ms:8.0f}{latency.p95_ms:8.0f}{latency.p99_ms:8.0f}")
        if clients == 1:
            for stage, median in latency.stages.items():
                print(f"{f'  {stage}':24}{median:8.1f}{latency.stages_p95[stage]:8.1f}")


async def storing(platform: Platform, messages: int) -> None:
    """Print the throughput of /ingest beside that of the embedder alone, in turns."""
    parts = [
        part.model_copy(update={"context": f"new {part.context}"}) for part in Chat(seed=99).requests(messages, 100)
    ]
    embedder = OpenAIEmbedder(base_url=platform.variables["VICW_EMBEDDING_URL"])
    alone, through = [], []
    try:
        for number in range(ROUNDS):
            part = parts[number::ROUNDS]
            alone.append(await embed_all(embedder, part))
            through.append(await post_all(platform.ingest.url, part))
    finally:
        await embedder.close()
    ratios = sorted(b / a for a, b in zip(alone, through, strict=True))
    print(f"\nmessages a second: embedder alone {alone}, through /ingest {through}")
    print(f"ratio, median: {ratios[len(ratios) // 2]:.2f}")


async def measure(platform: Platform, memories: int, queries: int, messages: int) -> None:
    platform.embedding = platform.add("embedding", "vicw_embedding").start()
    embedder = OpenAIEmbedder(base_url=f"{platform.embedding.url}/v1")
    model = await embedder.identity()
    await embedder.close()
    seconds = await fill(platform, model, memories)
    print(f"{memories} memories, filled in {seconds:.0f} s")
    began = time.monotonic()
    platform.start(f"{platform.embedding.url}/v1")
    print(f"ingest and retrieval answer {time.monotonic() - began:.1f} s after they were started")
    platform.worker().start()
    await answers(platform, queries)
    await storing(platform, messages)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--messages", type=int, default=900, help="messages stored to measure ingestion")
    options = parser.parse_args()
    run = Run()
    with tempfile.TemporaryDirectory(prefix="vicw-bench-") as folder:
        models = Path(folder) / "models"
        minilm.ensure(models)
        platform = Platform(Path(folder), models, run.shared(NEO4J), run.shared(QDRANT), run.shared(REDIS))
        # How the tests set it up is for tests.
        for variable in ("VICW_INGEST_BATCH", "VICW_REDIS_LOOK_SECONDS", "VICW_INGEST_WAIT_SECONDS"):
            platform.variables.pop(variable, None)
        try:
            asyncio.run(measure(platform, options.memories, options.queries, options.messages))
        finally:
            platform.close()
            run.close()


if __name__ == "__main__":
    main()
