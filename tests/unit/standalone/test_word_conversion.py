"""A store whose words are those of an earlier version is converted while it serves, and answers say so until then."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from support.fakes.hash_embedder import HashEmbedder
from support.stores.memory import Memory, open_memory, settings_for
from vicw_core.index import sparse
from vicw_core.index.conversion import WordConversion
from vicw_shared.model import EdgeRegistry
from vicw_shared.ports import SparseVector
from vicw_standalone.wiring import Standalone
from vicw_stores.data_dir import DataDir
from vicw_stores.null_engines import NullVectorStore
from vicw_stores.sqlite import SqliteGraphStore

ITEMS = tuple({"id": f"i{n}", "text": f"The {word} of the harbour"} for n, word in enumerate(("fog", "otter", "lamp")))


@pytest.fixture
async def earlier(store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store of an earlier version."""
    async with open_memory(store) as memory:
        await memory.ingest(*ITEMS)
        assert (await memory.retrieve("harbour")).degraded == ()
    monkeypatch.setattr(sparse, "VERSION", sparse.VERSION + 1)
    return store


async def wait_until_converted(memory: Memory) -> None:
    async with asyncio.timeout(20):
        while (await memory.retrieve("harbour")).degraded:  # noqa: ASYNC110 - it happens in the background
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("vectors", [True, False])
async def test_answers_name_words_until_all_are_converted(earlier: Path, *, vectors: bool) -> None:
    embedder = HashEmbedder()
    standalone = Standalone(settings_for(earlier, embedder="model" if vectors else "none"), embedder)
    await standalone.open()
    try:
        memory = Memory(standalone, embedder)
        answer = await memory.retrieve("otter", channels=["bm25" if vectors else "fulltext"])
        assert answer.degraded == ("words",)
        standalone.start_indexer()
        await wait_until_converted(memory)
        assert (await memory.found("otter"))[0] == "i1"
        assert await standalone.graph.words.converted() is None
    finally:
        await standalone.close()


class HangingVectors(NullVectorStore):
    """Answers once, then never."""

    def __init__(self) -> None:
        self.pages: list[set[str]] = []
        self.hangs = asyncio.Event()

    async def set_sparse(self, vectors: Mapping[str, SparseVector]) -> None:
        self.pages.append(set(vectors))
        if len(self.pages) == 2:
            self.hangs.set()
            await asyncio.Event().wait()


async def test_a_conversion_that_was_killed_goes_on_where_it_stopped(earlier: Path) -> None:
    vectors = HangingVectors()

    async def open_vectors() -> HangingVectors:
        return vectors

    async def complete() -> None:
        """Nobody needs to know."""

    for _ in range(2):
        with DataDir(earlier) as data_dir:
            graph = SqliteGraphStore(data_dir, EdgeRegistry.with_core_types())
            run = asyncio.create_task(WordConversion(graph, open_vectors, complete, page=2).run())
            hangs = asyncio.create_task(vectors.hangs.wait())
            await asyncio.wait({run, hangs}, return_when=asyncio.FIRST_COMPLETED)
            vectors.hangs.clear()
            run.cancel()
            hangs.cancel()
            await asyncio.wait({run, hangs})
            converted = await graph.words.converted()
            await graph.close()
    assert converted is None
    assert [len(page) for page in vectors.pages] == [2, 1, 1], "the first page was not converted again"
