"""``python tests/bench/archive_speed.py [--messages N] [--platform]``: how fast a store is exported and imported.

Fills embedded stores through the real write path, with the rules' extraction and random vectors of 384 dimensions;
exports them, imports that into other embedded stores and, with --platform, into a Neo4j and a Qdrant, which come from
where the tests take them, and exports those. Prints seconds, items and nodes a second, and the most memory that the
commands take. The Neo4j must be empty.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.servers.neo4j.server import NEO4J
from support.servers.qdrant import QDRANT
from support.servers.run import Run
from support.stores.neo4j import open_neo4j
from support.stores.qdrant import collections_for_tests
from vicw_bench.speed.seeded import SeededEmbedder
from vicw_bench.speed.synthetic import Chat
from vicw_core.archive.reader import ArchiveReader
from vicw_core.archive.writer import ArchiveWriter
from vicw_ingest.index.service import Indexer
from vicw_ingest.pipeline import IngestPorts, ingest
from vicw_runtime.indexes import Index, Indexes
from vicw_shared.extensions import Registries, load_extractor, load_registries
from vicw_shared.model import Label
from vicw_shared.ports import ModelIdentity, Store, VectorStore
from vicw_shared.settings import IngestSettings, LimitSettings
from vicw_sleep.archive.exporter import ExportSelection, ExportSource, export
from vicw_sleep.archive.importer import ImportTarget, import_archive
from vicw_sleep.archive.validator import validate
from vicw_stores.data_dir import DataDir
from vicw_stores.edge import EdgeVectorStore
from vicw_stores.qdrant import QdrantVectorStore
from vicw_stores.sqlite import SqliteGraphStore

TELLING = """
import sys
from vicw_standalone.cli import main
try:
    main()
finally:
    # What the kernel tells of a child that ended may be its parent's.
    sys.stderr.write(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""
MODEL = ModelIdentity("random", 384, "0" * 64, 1)
REGISTRIES: Registries = load_registries()


@asynccontextmanager
async def embedded(path: Path) -> AsyncIterator[tuple[SqliteGraphStore, VectorStore]]:
    async with AsyncExitStack() as stack:
        graph = SqliteGraphStore(stack.enter_context(DataDir(path)), REGISTRIES.edges)
        stack.push_async_callback(graph.close)
        vectors = EdgeVectorStore(path / "vectors", MODEL.size)
        stack.push_async_callback(vectors.close)
        await graph.record.set_model(MODEL)
        yield graph, vectors


async def fill(graph: SqliteGraphStore, vectors: VectorStore, messages: int) -> None:
    async def opener(_: ModelIdentity) -> Index:
        return Index(MODEL, vectors, SeededEmbedder(MODEL))

    indexes = Indexes(graph.record, opener)
    await indexes.open()
    settings = IngestSettings()
    indexer = Indexer(graph.outbox, indexes, 256, settings.max_tries)
    ports = IngestPorts.of(graph, indexer, REGISTRIES.edges, LimitSettings(), settings, extractor=load_extractor(None))
    for request in Chat().requests(messages, 500):
        await ingest(request, "default", ports)
        await indexer.drain()


async def timed[T](what: str, items: int, nodes: int, work: Awaitable[T]) -> T:
    began = time.monotonic()
    done = await work
    seconds = time.monotonic() - began
    print(f"{what:36}{seconds:8.1f}{items / seconds:10.0f}{nodes / seconds:10.0f}", flush=True)
    return done


async def exported(graph: Store, vectors: VectorStore, path: Path) -> None:
    with ArchiveWriter(path) as writer:
        source = ExportSource(graph=graph, vectors=vectors, model=MODEL)
        await export(source, writer, REGISTRIES, ExportSelection(), program="bench")


async def imported(path: Path, graph: Store, vectors: VectorStore) -> None:
    async def open_vectors(_: ModelIdentity) -> VectorStore:
        return vectors

    judged = validate(ArchiveReader(path), REGISTRIES.edges)
    await import_archive(judged, ImportTarget(graph=graph, open_vectors=open_vectors))


def peak_mb(command: list[str]) -> int:
    """Run a ``vicw`` command; return the most memory that was resident, of which a part is the stores' mapped files."""
    told = subprocess.run([sys.executable, "-c", TELLING, *command], capture_output=True, text=True, check=True)
    return int(told.stderr.split()[-1]) // 1024


async def measure(room: Path, messages: int, run: Run | None) -> None:
    async with embedded(room / "one") as (graph, vectors):
        began = time.monotonic()
        await fill(graph, vectors, messages)
        nodes = sum([await graph.audit.count(label) for label in Label])
        print(f"{messages} messages, {nodes} nodes, filled in {time.monotonic() - began:.0f} s\n")
        print(f"{'':36}{'s':>8}{'items/s':>10}{'nodes/s':>10}")
        await timed("export, embedded", messages, nodes, exported(graph, vectors, room / "export"))
    size = sum(path.stat().st_size for path in (room / "export").rglob("*") if path.is_file())
    async with embedded(room / "two") as (graph, vectors):
        await timed("import, embedded", messages, nodes, imported(room / "export", graph, vectors))
    if run is not None:
        async with open_neo4j(run.shared(NEO4J)) as neo, collections_for_tests(run.shared(QDRANT)) as (client, made):
            if await neo.audit.count(Label.CONTEXT):
                raise SystemExit("the Neo4j is not empty: name another")
            await neo.record.set_model(MODEL)
            points = QdrantVectorStore(client, (await made.open(MODEL)).name)
            await timed("import, Neo4j and Qdrant", messages, nodes, imported(room / "export", neo, points))
            await timed("export, Neo4j and Qdrant", messages, nodes, exported(neo, points, room / "again"))
    for command in (["export", "--to", room / "third"], ["import", room / "export"]):
        data_dir = room / ("one" if command[0] == "export" else "three")
        print(f"\nvicw {command[0]} takes {peak_mb([*map(str, command), '--data-dir', str(data_dir)])} MB", end="")
    print(f"\nThe export has {size / 2**20:.0f} MiB, {size / messages:.0f} bytes a message")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--platform", action="store_true")
    options = parser.parse_args()
    run = Run() if options.platform else None
    with tempfile.TemporaryDirectory(prefix="vicw-bench-") as folder:
        try:
            asyncio.run(measure(Path(folder), options.messages, run))
        finally:
            if run is not None:
                run.close()


if __name__ == "__main__":
    main()
