"""The folder of the vector index was lost: it is made anew, and until it has everything answers say so."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest
from prometheus_client import REGISTRY

from support.fakes.hash_embedder import HashEmbedder
from support.stores.memory import Memory, open_memory, settings_for
from support.stores.reindexed import reindexed
from vicw_shared.clock import now
from vicw_shared.errors import UnavailableError
from vicw_shared.ports import PendingPoint
from vicw_stores.edge import EdgeVectorStore

ITEMS: list[dict[str, Any]] = [
    {"id": "fog", "text": "the harbour was closed by fog", "timestamp": "2026-01-01T00:00:00Z"},
    {"id": "secret", "text": "the harbour master was bribed", "sensitivity": "personal", "about": ["Ana"]},
    {"id": "cliff", "text": "a lighthouse on a cliff"},
]
LEFT_OUT = ("bm25", "dense")


@pytest.fixture
async def lost(store: Path) -> Path:
    """A store that has lost its index."""
    async with open_memory(store) as memory:
        await memory.ingest(*ITEMS)
        assert (await memory.retrieve("harbour")).degraded == ()
    shutil.rmtree(store / "vectors")
    return store


@asynccontextmanager
async def without_vectors(store: Path) -> AsyncIterator[Memory]:
    """Open a store whose passages cannot be embedded for the time being."""
    embedder = HashEmbedder()
    embedder.down = True
    async with open_memory(store, embedder) as memory:
        yield memory


async def wait_until_rebuilt(memory: Memory) -> None:
    async with asyncio.timeout(20):
        while (await memory.retrieve("harbour")).degraded:  # noqa: ASYNC110 - it happens in the background
            await asyncio.sleep(0.05)


def rebuilding_gauge() -> float | None:
    return REGISTRY.get_sample_value("vicw_index_rebuilding")


async def test_an_index_with_the_former_single_shard_layout_is_rebuilt(lost: Path) -> None:
    (lost / "vectors" / "segments" / "some").mkdir(parents=True)
    async with open_memory(lost) as memory:
        await wait_until_rebuilt(memory)
        assert [r.id for r in (await memory.retrieve("harbour fog")).results][:1] == ["fog"]
    assert not (lost / "vectors" / "segments").exists()


async def test_a_lost_index_is_rebuilt_while_full_text_answers(lost: Path) -> None:
    async with without_vectors(lost) as memory:
        answer = await memory.retrieve("harbour fog")
        assert ([r.id for r in answer.results], answer.degraded) == (["fog", "secret"], LEFT_OUT)
        assert {hit.channel for result in answer.results for hit in result.channels} == {"fulltext"}
        assert await memory.found("harbour", viewer={"user": "Bob"}) == ["fog"]
        assert await memory.found("cliff") == ["cliff"]
        assert ("rebuilding" in await memory.standalone.describe("default"), rebuilding_gauge()) == (True, 1)

        memory.embedder.down = False
        await wait_until_rebuilt(memory)
        assert await memory.found("cliff", limit=1) == ["cliff"]
        answer = await memory.retrieve("harbour fog")
        assert {hit.channel for hit in answer.results[0].channels} == {"dense", "bm25"}
        assert ("rebuilding" in await memory.standalone.describe("default"), rebuilding_gauge()) == (False, 0)
        report = await memory.check()
        assert (report.violations, report.waiting) == ([], 0)


async def test_requested_channels_without_an_index_are_reported_as_degraded(lost: Path) -> None:
    async with without_vectors(lost) as memory:
        answer = await memory.retrieve("harbour", channels=["bm25"])
        assert (answer.results, answer.degraded) == ((), ("bm25",))


async def test_a_rebuilding_index_answers_while_the_graph_fails(lost: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def down(*_: Any, **__: Any) -> NoReturn:
        raise UnavailableError("graph", "is down")

    async with open_memory(lost) as memory:
        await wait_until_rebuilt(memory)
        await memory.standalone.graph.record.mark_rebuilding(now())
        await memory.standalone.indexes.refresh()
        with monkeypatch.context() as patch:
            patch.setattr(memory.standalone.graph, "find", down)
            answer = await memory.retrieve("harbour fog", limit=1)
            assert ([r.id for r in answer.results], answer.degraded) == (["fog"], (*LEFT_OUT, "fulltext"))
            for method in ("owners", "nodes", "texts", "expand"):
                patch.setattr(memory.standalone.graph, method, down)
            answer = await memory.retrieve("harbour fog", limit=1)
            assert ([r.id for r in answer.results], set(answer.degraded)) == (["fog"], {"graph", "fulltext", *LEFT_OUT})
        answer = await memory.retrieve("harbour fog", limit=1)
        assert answer.results[0].channels[0].channel == "fulltext"


async def test_retrieve_raises_if_the_index_is_empty_and_full_text_fails(
    lost: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def slow(*_: Any, **__: Any) -> NoReturn:
        raise UnavailableError("graph", "no answer in time")

    async with without_vectors(lost) as memory:
        monkeypatch.setattr(memory.standalone.graph, "find", slow)
        with pytest.raises(UnavailableError, match="graph"):
            await memory.retrieve("harbour fog")


async def test_an_interrupted_index_rebuild_continues_at_the_next_start(lost: Path) -> None:
    for _ in range(2):
        async with without_vectors(lost) as memory:
            assert (await memory.retrieve("harbour")).degraded == LEFT_OUT
    (lost / "vectors" / "clean").unlink()  # as a kill leaves it
    async with open_memory(lost) as memory:
        assert (await memory.retrieve("harbour")).degraded == LEFT_OUT
        await wait_until_rebuilt(memory)
        vectors = memory.standalone.vectors
        assert isinstance(vectors, EdgeVectorStore)
        assert not vectors.unclean


async def test_dead_passages_do_not_keep_an_index_marked_as_rebuilding(lost: Path) -> None:
    async with without_vectors(lost) as memory:
        graph = memory.standalone.graph
        async with asyncio.timeout(20):
            while (await graph.outbox.backlog()).waiting < len(ITEMS):  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.02)
        claimed: list[PendingPoint] = []
        async with asyncio.timeout(20):
            while not claimed:  # the indexer holds them from time to time
                claimed = await graph.outbox.claim(1, seconds=60)
                await asyncio.sleep(0)
        await graph.outbox.postpone(claimed[:1], seconds=None, error="it cannot be embedded")
        memory.embedder.down = False
        await wait_until_rebuilt(memory)
        assert (await graph.outbox.backlog()).dead == 1


async def test_a_store_that_was_never_indexed_is_not_marked_as_rebuilding(store: Path) -> None:
    async with without_vectors(store) as memory:
        await memory.ingest(*ITEMS, wait=False)
    shutil.rmtree(store / "vectors")
    async with without_vectors(store) as memory:
        assert (await memory.standalone.graph.record.models()).rebuilding is None


async def test_passages_waiting_are_counted_per_tenant_and_unknown_at_first(store: Path) -> None:
    embedder = HashEmbedder()
    async with open_memory(store, embedder) as memory:

        async def told() -> list[object]:
            return [(await memory.standalone.describe(tenant)).get("passages_waiting") for tenant in ("a", "b", None)]

        assert await told() == [0, 0, 0]
        await memory.standalone.graph.record.mark_rebuilding(now())
        await memory.standalone.indexes.refresh()
        assert await told() == [None, None, None], "nothing is counted yet, which is not nothing"
        embedder.down = True
        for memory.tenant, count in (("a", 2), ("b", 1)):
            await memory.ingest(*ITEMS[:count], wait=False)
        assert await told() == [2, 1, 3]
        embedder.down = False


async def test_vicw_reindex_rebuilds_a_lost_index(lost: Path) -> None:
    done = await reindexed(settings_for(lost), None, HashEmbedder())
    assert (done.embedded, done.passages) == (3, 3)
    async with open_memory(lost) as memory:
        assert (await memory.retrieve("harbour")).degraded == ()
        assert (await memory.check()).violations == []


@pytest.mark.parametrize("broken", [False, True], ids=["missing", "broken"])
async def test_an_interrupted_vicw_reindex_leaves_the_index_marked_as_rebuilding(lost: Path, broken: bool) -> None:
    if broken:
        async with open_memory(lost) as memory:
            await wait_until_rebuilt(memory)
        (lost / "vectors" / "passages" / "edge_config.json").write_text("not json")

    class Unable(HashEmbedder):
        async def embed(self, *_: Any) -> NoReturn:
            raise RuntimeError("cut off")

    with pytest.raises(RuntimeError):
        await reindexed(settings_for(lost), None, Unable())
    async with without_vectors(lost) as memory:
        assert (await memory.retrieve("harbour")).degraded == LEFT_OUT
        assert "lost and is being rebuilt" in "\n".join((await memory.standalone.reindexing.status()).lines())
