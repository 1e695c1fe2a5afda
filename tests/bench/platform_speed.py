"""``python tests/bench/platform_speed.py``: how fast the separate services answer and store, over real servers.

Servers come from where the tests take them (VICW_TEST_NEO4J_URL …, this machine, Docker), Neo4j with the memory that
docker-compose.yml gives it by default. The memory is filled through the real write path with random vectors, which
search as fast as a model's and mean nothing; questions are embedded by the real model.

Servers that are named keep what is stored: a further run over them asks at once, or stores what is lacking. It is to
ask only (``--messages 0``), since what is stored to measure ingestion stays, too.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.processes.platform import Platform
from support.servers.guard import guard
from support.servers.neo4j import server as neo4j
from support.servers.neo4j.server import NEO4J
from support.servers.qdrant import QDRANT
from support.servers.redis import REDIS
from support.servers.run import Run
from support.servers.sources import Source
from vicw_bench.speed.ingest import embed_all, post_all
from vicw_bench.speed.retrieve import ask
from vicw_bench.speed.seeded import SeededEmbedder
from vicw_bench.speed.server import children, disk_mb, resident
from vicw_bench.speed.synthetic import Chat
from vicw_core.index.wrapper import wrap
from vicw_ingest.index.service import Indexer
from vicw_ingest.pipeline import IngestPorts, ingest
from vicw_runtime.indexes import Index, Indexes
from vicw_runtime.model_servers.openai_embedder import OpenAIEmbedder
from vicw_shared.extensions import load_extractor
from vicw_shared.model import EdgeRegistry, Label
from vicw_shared.ports import ModelIdentity, Nodes
from vicw_shared.settings import IngestSettings, LimitSettings, Neo4jSettings, QdrantSettings
from vicw_stores.neo4j import Neo4jGraphStore
from vicw_stores.qdrant import QdrantCollections, QdrantVectorStore, connect

WARM_UP = 300
"""So many questions until Java has compiled what answers them."""
AS_DEPLOYED = partial(neo4j.local, ("-Xms512m", "-XX:+UseG1GC"), page_cache="256m")
REQUEST_ITEMS = 500
TENANT = "default"
ALIAS = "bench"
ROUNDS = 9
COUNT = re.compile(r'^vicw_engine_seconds_count\{engine="(\w+)",operation="(\w+)"\} (\S+)$', re.MULTILINE)


async def fill(platform: Platform, model: ModelIdentity, memories: int) -> float:
    """Store so many messages, as far as they are not stored yet; return the seconds it took."""
    variables = platform.variables
    settings_of_graph = Neo4jSettings(
        url=variables["VICW_NEO4J_URL"],
        user=variables["VICW_NEO4J_USER"],
        password=variables["VICW_NEO4J_PASSWORD"],
    )
    registry = EdgeRegistry.with_core_types()
    graph = await Neo4jGraphStore.open(settings_of_graph, registry)
    known = await graph.contexts(TENANT)
    if not known and await graph.scan(Nodes(Label.CONTEXT), limit=1):
        raise SystemExit("the Neo4j has what others stored: name another")
    if await graph.items(TENANT, f"t{memories}", [root.context for root in known]):
        raise SystemExit("the Neo4j has more memories than that")
    client = connect(QdrantSettings(url=variables["VICW_QDRANT_URL"]))
    collection = await QdrantCollections(client, variables["VICW_QDRANT_ALIAS"]).open(model)
    await graph.record.set_model(model)
    index = Index(model, QdrantVectorStore(client, collection.name), SeededEmbedder(model))

    async def opener(_: ModelIdentity) -> Index:
        return index

    indexes = Indexes(graph.record, opener)
    await indexes.open()
    settings = IngestSettings()
    indexer = Indexer(graph.outbox, indexes, 256, settings.max_tries)
    ports = IngestPorts.of(graph, indexer, registry, LimitSettings(), settings, extractor=load_extractor(None))
    began, done = time.monotonic(), 0
    for request in Chat().requests(memories, REQUEST_ITEMS):
        if not await graph.items(TENANT, request.items[-1].id or "", [request.context]):
            await ingest(request.model_copy(update={"wait": False}), TENANT, ports)
            await indexer.drain()
        done += len(request.items)
        print(f"\rfilling: {done} of {memories}", end="", file=sys.stderr)
    print(file=sys.stderr)
    await indexes.close()
    await graph.close()
    return time.monotonic() - began


async def answers(platform: Platform, queries: int) -> dict[int, float]:
    """Print how long questions take, their stages, and what they ask of engines.

    Return the CPU milliseconds of each process for one.
    """
    asked = Chat().questions(WARM_UP + 2 * queries)
    await ask(platform.retrieval.url, asked[:WARM_UP], 1)
    spent, before = cpu_seconds(), operations(platform)
    each: dict[int, float] = {}
    told: dict[str, float] = {}
    print(f"\n{'ms':24}{'p50':>8}{'p95':>8}{'p99':>8}")
    for number, clients in enumerate((1, 8)):
        start = WARM_UP + number * queries
        latency = await ask(platform.retrieval.url, asked[start : start + queries], clients)
        print(f"{f'{clients} client(s)':24}{latency.p50_ms:8.0f}{latency.p95_ms:8.0f}{latency.p99_ms:8.0f}")
        if clients == 1:
            each = {pid: (now - spent.get(pid, 0)) / queries * 1000 for pid, now in cpu_seconds().items()}
            for stage, median in latency.stages.items():
                print(f"{f'  {stage}':24}{median:8.1f}{latency.stages_p95[stage]:8.1f}")
            told = {name: (now - before.get(name, 0.0)) / queries for name, now in operations(platform).items()}
    print(f"\nof engines, a question: {sum(told.values()):.1f}")
    for name, count in sorted(told.items(), key=lambda one: -one[1]):
        if count:
            print(f"  {name:30}{count:8.2f}")
    return each


def operations(platform: Platform) -> dict[str, float]:
    """Return how often the retrieval service has asked its engines for each operation: one round trip each."""
    metrics = httpx.get(f"{platform.retrieval.url}/metrics", timeout=10, trust_env=False).raise_for_status().text
    return {f"{engine} {operation}": float(count) for engine, operation, count in COUNT.findall(metrics)}


def cpu_seconds() -> dict[int, float]:
    """Return the CPU time of each process that was started here."""
    fields = {
        pid: Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split() for pid in children(os.getpid())
    }
    return {pid: (int(values[11]) + int(values[12])) / os.sysconf("SC_CLK_TCK") for pid, values in fields.items()}


async def storing(platform: Platform, messages: int) -> None:
    """Print the throughput of /ingest beside that of the embedder alone, in turns."""
    parts = [
        part.model_copy(update={"context": f"new {part.context}"}) for part in Chat(seed=99).requests(messages, 100)
    ]
    embedder = OpenAIEmbedder(base_url=platform.variables["VICW_EMBEDDING_URL"], api_key=platform.secret)
    alone, through = [], []
    try:
        for number in range(ROUNDS):
            part = parts[number::ROUNDS]
            items = [(item, request.domain) for request in part for item in request.items]
            texts = [wrap(i.text, domain=domain, subtype=i.subtype, name=i.speaker) for i, domain in items]
            alone.append(round(len(items) / await embed_all(embedder, texts), 2))
            through.append(round(len(items) / await post_all(platform.ingest.url, part), 2))
    finally:
        await embedder.close()
    ratios = sorted(b / a for a, b in zip(alone, through, strict=True))
    print(f"\nmessages a second: embedder alone {alone}, through /ingest {through}")
    print(f"ratio, median: {ratios[len(ratios) // 2]:.2f}")


def footprint(each: Mapping[int, float]) -> None:
    """Print what each process takes of the machine, those of other machines and containers aside."""
    print(f"\n{'MiB':24}{'RSS':>8}{'own':>8}{'disk':>8}{'ms of CPU a question':>24}")
    for pid in children(os.getpid()):
        command, folder = Path(f"/proc/{pid}/cmdline").read_bytes(), Path(f"/proc/{pid}/cwd").resolve()
        ours = re.search(rb"vicw_\w+|celery", command)
        size = resident(pid)
        if size is not None and (ours or folder.is_relative_to(guard().directory)):
            name, disk = (ours[0].decode(), "") if ours else (folder.name.partition("-")[0], f"{disk_mb(folder):.0f}")
            print(f"{name:24}{size.total:8.0f}{size.own:8.0f}{disk:>8}{each.get(pid, 0):24.1f}")


async def measure(platform: Platform, memories: int, queries: int, messages: int) -> None:
    platform.embedding = platform.add("embedding", "vicw_embedding").start()
    embedder = OpenAIEmbedder(base_url=f"{platform.embedding.url}/v1", api_key=platform.secret)
    model = await embedder.identity()
    await embedder.close()
    seconds = await fill(platform, model, memories)
    print(f"{memories} memories, filled in {seconds:.0f} s")
    began = time.monotonic()
    platform.start(f"{platform.embedding.url}/v1")
    print(f"ingest and retrieval answer {time.monotonic() - began:.1f} s after they were started")
    platform.worker().start()
    footprint(await answers(platform, queries))
    if messages:
        await storing(platform, messages)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--messages", type=int, default=2700, help="messages stored to measure ingestion")
    options = parser.parse_args()
    run = Run()
    graph = replace(NEO4J, own=[Source("jars", AS_DEPLOYED), *NEO4J.own])
    vectors = replace(QDRANT, own=QDRANT.own[::-1])
    with tempfile.TemporaryDirectory(prefix="vicw-bench-") as folder:
        models = Path(folder) / "models"
        platform = Platform(Path(folder), models, run.shared(graph), run.shared(vectors), run.shared(REDIS))
        platform.variables["VICW_QDRANT_ALIAS"] = ALIAS  # the same for a further run
        # How the tests set it up is for tests.
        for variable in ("VICW_INGEST_BATCH", "VICW_REDIS_POLL_SECONDS", "VICW_INGEST_WAIT_SECONDS"):
            platform.variables.pop(variable, None)
        try:
            asyncio.run(measure(platform, options.memories, options.queries, options.messages))
        finally:
            platform.close()
            run.close()


if __name__ == "__main__":
    main()
