"""A tenant of twenty memories beside one of a hundred thousand: each way to an answer gives it all that it asks for."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
import pytest_asyncio
from numpy.typing import NDArray
from qdrant_client.models import CollectionStatus, HnswConfigDiff, OptimizersConfigDiff, VectorParamsDiff

from support.fakes.hash_embedder import SIZE
from support.servers.machine import free_port
from support.servers.neo4j.server import Neo4jServer
from support.servers.qdrant import QdrantServer
from support.stores.graph_records import AT, edge, node
from support.stores.neo4j import empty_neo4j
from support.stores.pairs import Side, platform
from support.stores.qdrant import open_client
from vicw_core.index.sparse import encode_document
from vicw_retrieval.pipeline import retrieve
from vicw_retrieval.ports import RetrievalPorts
from vicw_retrieval.request.engines import CircuitBreaker
from vicw_shared.clock import to_ms
from vicw_shared.model import Label
from vicw_shared.ports import Lane, Point, Scope, SparseVector, VectorQuery, VectorStore
from vicw_shared.settings import LimitSettings, QdrantSettings, RetrievalSettings
from vicw_shared.uids import make_uid
from vicw_shared.wire.retrieve import RetrieveRequest, RetrieveResponse
from vicw_stores.neo4j.rows import edge_row, node_row
from vicw_stores.qdrant import QdrantVectorStore, connect

pytestmark = [pytest.mark.servers, pytest.mark.timeout(1800), pytest.mark.asyncio(loop_scope="module")]

CROWD = int(os.environ.get("VICW_TEST_CROWD", "100000"))
FEW = 20
_PART = 1000
_WANTED = 100
_LEAST_KB = 10
_QUESTION = "harbour"
_RARE = 50
"""One point of so many has a tag that the others lack."""
_WORDS = "the harbour, the harbour, said one of the crowd"


@dataclass(frozen=True, slots=True)
class Crowd:
    """The platform's stores with both tenants in them. ``collection`` is that of the vectors."""

    side: Side
    collection: str
    server: QdrantServer

    async def ask(self, vectors: VectorStore | None = None, **fields: Any) -> RetrieveResponse:
        ports = RetrievalPorts(
            self.side.graph,
            vectors or self.side.vectors,
            self.side.embedder,
            "",
            LimitSettings(),
            RetrievalSettings(channel_ms=60_000, graph_ms=60_000, spread_ms=60_000, candidates=FEW),
            CircuitBreaker(),
        )
        request = {"query": _QUESTION, "limit": FEW, "budget": {"chars": 100_000}, **fields}
        return await retrieve(RetrieveRequest.model_validate(request), "small", ports)

    async def follow_the_graph(self) -> None:
        """Have the server build a graph of all vectors, and follow it wherever more than a few of them pass."""
        client = open_client(self.server)
        await client.update_collection(
            self.collection,
            vectors_config={"dense": VectorParamsDiff(hnsw_config=HnswConfigDiff(full_scan_threshold=_LEAST_KB))},
            optimizers_config=OptimizersConfigDiff(indexing_threshold=_LEAST_KB),
        )
        async with asyncio.timeout(900):
            while ((await client.get_collection(self.collection)).indexed_vectors_count or 0) < CROWD:  # noqa: ASYNC110
                await asyncio.sleep(0.2)
            while (await client.get_collection(self.collection)).status is not CollectionStatus.GREEN:  # noqa: ASYNC110
                await asyncio.sleep(0.2)
        await client.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def crowd(neo4j_server: Neo4jServer, qdrant_server: QdrantServer) -> AsyncIterator[Crowd]:
    async with platform(neo4j_server, qdrant_server, query_seconds=600) as side:
        made = Crowd(side, side.collection, qdrant_server)
        turns = [{"id": f"m{n}", "text": f"A harbour at {n}.", "speaker": "Ana"} for n in range(FEW)]
        await side.ingest({"context": "c", "flow_id": "f", "items": turns}, "small", None)
        await side.indexer.drain()
        await asyncio.gather(_fill_graph(neo4j_server), _fill_vectors(side))
        yield made
    empty_neo4j(neo4j_server)


_MANY = (
    "UNWIND $rows AS row CREATE (i:Entity)-[e:EVIDENCED_BY]->(k:Chunk) "
    "SET i = $item, i.uid = row.item, i.qdrant_id = row.passage, k = $passage, k.uid = row.passage, "
    "e = $proof, e.id = row.proof"
)
"""Items that differ in their uids alone, so that the rest of them is sent once."""


async def _fill_graph(server: Neo4jServer) -> None:
    """Put the crowd's items, each with its passage."""

    def put(part: range) -> None:
        fields: dict[str, Any] = {"tenant": "large", "context": _context_of(part.start), "indexed": True}
        item, passage = node("item", content_hash="h", **fields), node("passage", Label.CHUNK, text=_WORDS, **fields)
        values = {
            "item": node_row(item) | {"uid": None},
            "passage": node_row(passage) | {"uid": None, "head": ["item"]},
            "proof": edge_row(edge("EVIDENCED_BY", "item", "passage")) | {"id": None},
        }
        rows = [{what: make_uid(f"{what} {n}") for what in ("item", "passage", "proof")} for n in part]
        with server.driver() as driver, driver.session() as session:
            session.run(_MANY, rows=rows, **values).consume()

    await _in_turns(lambda part: asyncio.to_thread(put, part))


async def _fill_vectors(side: Side) -> None:
    """Put the crowd's points, all of them nearer to the question than anything else."""
    question = (await side.embedder.embed([_QUESTION], Lane.QUERY))[0]
    sparse = encode_document(_WORDS)
    await _in_turns(lambda part: side.vectors.upsert([_point_of(n, question, sparse) for n in part]))


def _point_of(number: int, question: NDArray[np.float32], sparse: SparseVector) -> Point:
    noise = np.random.default_rng(number).standard_normal(SIZE).astype(np.float32)
    row: NDArray[np.float32] = 2 * question + noise / np.float32(np.linalg.norm(noise))
    payload = {
        "tenant": "large",
        "label": "Chunk",
        "context": _context_of(number),
        "domain": "general",
        "sensitivity": "public",
        "portable": 1,
        "created_at": to_ms(AT),
        "item": make_uid(f"item {number}"),
        "tags": ["rare"] if number % _RARE == 0 else [],
    }
    return Point(make_uid(f"passage {number}"), row / np.float32(np.linalg.norm(row)), sparse, payload)


def _context_of(number: int) -> str:
    """Return one of four: a part is of one, and the next part of another."""
    return f"c{number // _PART % 4}"


async def _in_turns(put: Callable[[range], Awaitable[None]]) -> None:
    """Put the whole crowd in parts, a few at the same time."""
    at_once = asyncio.Semaphore(4)

    async def turn(start: int) -> None:
        async with at_once:
            await put(range(start, min(start + _PART, CROWD)))

    await asyncio.gather(*(turn(start) for start in range(0, CROWD, _PART)))


@pytest.mark.parametrize("channels", [["dense"], ["bm25"], None], ids=str)
@pytest.mark.parametrize("fields", [{}, {"context": "c"}, {"viewer": {"user": "ana"}}], ids=str)
async def test_every_channel_finds_all_items_of_a_small_tenant(
    crowd: Crowd, channels: list[str] | None, fields: dict[str, Any]
) -> None:
    answer = await crowd.ask(channels=channels, **fields)
    assert _ids(answer) == {f"m{n}" for n in range(FEW)}
    assert answer.degraded == ()


async def test_expansion_finds_a_small_tenants_chain_and_speaker_edges(crowd: Crowd) -> None:
    answer = await crowd.ask()
    kinds = [edge.type for edge in answer.graph.edges]
    assert (kinds.count("NEXT"), kinds.count("INITIATED"), kinds.count("EVIDENCED_BY")) == (FEW - 1, FEW, FEW)


async def test_fulltext_finds_all_items_while_the_vector_store_is_down(crowd: Crowd) -> None:
    away = QdrantVectorStore(connect(QdrantSettings(url=f"http://127.0.0.1:{free_port()}")), "none", timeout_seconds=1)
    answer = await crowd.ask(vectors=away)
    await away.close()
    assert _ids(answer) == {f"m{n}" for n in range(FEW)}
    assert {hit.channel for result in answer.results for hit in result.channels} == {"fulltext"}


async def test_a_selective_filter_keeps_the_recall_of_vector_search(crowd: Crowd) -> None:
    assert await _recall_of_the_rare(crowd) >= 0.97


async def test_filtered_search_over_the_hnsw_index_returns_all_hits(crowd: Crowd) -> None:
    """Up to a size that no test reaches, whatever passes is compared instead: here that size is nothing.

    Then not all hits are the nearest, the less so as these vectors are random; but there are as many as there can be.
    """
    await crowd.follow_the_graph()
    assert _ids(await crowd.ask(channels=["dense"])) == {f"m{n}" for n in range(FEW)}
    assert await _recall_of_the_rare(crowd) >= 0.5


async def _recall_of_the_rare(crowd: Crowd) -> float:
    """Return which share of the nearest points with a rare tag a search brings, which must bring as many as it may."""
    asked, near = await crowd.side.embedder.embed(["volcano", _QUESTION], Lane.QUERY)
    scope = Scope(tenant="large", now=AT + timedelta(days=1), tags_any=("rare",))
    hits = await crowd.side.vectors.search(VectorQuery(scope=scope, limit=_WANTED, dense=asked))
    rare = [_point_of(n, near, SparseVector((), ())) for n in range(0, CROWD, _RARE)]
    nearest = sorted(rare, key=lambda point: -float(point.dense @ asked))[:_WANTED]
    assert len({hit.id for hit in hits} & {point.id for point in rare}) == len(nearest)
    return len({hit.id for hit in hits} & {point.id for point in nearest}) / len(nearest)


def _ids(answer: RetrieveResponse) -> set[str | None]:
    return {result.id for result in answer.results}
