"""What a text may do to the server: it takes time in proportion to its length, and holds up nobody but itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from support.fakes.hash_embedder import HashEmbedder
from support.stores.memory import open_memory
from vicw_ingest.index.service import BACKLOG
from vicw_ingest.plan.chunking import split_passages
from vicw_retrieval.intent.domain import domain_cues
from vicw_shared.errors import UnavailableError
from vicw_shared.ports import Lane


@pytest.mark.parametrize(
    "text",
    ["x" + "\n" * 400_000, "\n \t" * 150_000 + "x", "a" * 400_000, "def " * 100_000, "\n@" * 200_000],
    ids=["newlines", "blank lines", "one word", "def", "decorators"],
)
def test_code_is_cut_in_time_that_grows_with_its_length(text: str) -> None:
    started = time.thread_time()
    assert "".join(split_passages(text, size=1200, code=True)) == text
    assert time.thread_time() - started < 5


@pytest.mark.parametrize("part", ["a", "aA", "_", "a_", ".", "(", "a.", "1"])
def test_domain_cues_of_a_hostile_question_take_bounded_time(part: str) -> None:
    started = time.thread_time()
    domain_cues(part * 20_000)
    assert time.thread_time() - started < 0.1


async def test_many_entities_in_a_long_text_are_ingested_in_bounded_time(store: Path) -> None:
    told = {"entities": [{"name": f"nobody {n}"} for n in range(900)]}
    async with open_memory(store) as memory:
        started = time.process_time()
        await memory.ingest({"text": "Some long text. " * 30_000, "extraction": told}, wait=False)
        assert time.process_time() - started < 5


class PoisonFailingEmbedder(HashEmbedder):
    """Fails at one word as servers do that refuse an input with a 500."""

    async def embed(self, texts: Sequence[str], lane: Lane) -> NDArray[np.float32]:
        if any("poison" in text for text in texts):
            raise UnavailableError("embedding", "the embedding server answered 500")
        return await super().embed(texts, lane)


async def test_passages_that_fail_to_embed_do_not_delay_others(store: Path) -> None:
    async with open_memory(store, PoisonFailingEmbedder()) as memory:
        poisoned = [{"id": f"p{n}", "text": f"poison {n}"} for n in range(3)]
        await memory.ingest(*poisoned, *({"id": f"i{n}", "text": f"apple {n}"} for n in range(8)), wait=False)
        async with asyncio.timeout(15):
            while len(await memory.found("apple")) < 8:  # noqa: ASYNC110 - it happens in the background
                await asyncio.sleep(0.05)

        started = time.perf_counter()
        await memory.ingest({"id": "new", "text": "a new pear"})

        assert time.perf_counter() - started < 5, "and new items do not wait for it"
        assert await memory.found("pear", limit=1) == ["new"]
        assert (await memory.check()).waiting == 3


async def test_the_backlog_counts_all_waiting_passages_not_one_page(store: Path) -> None:
    async with open_memory(store) as memory:
        memory.standalone.indexer.batch = 1
        memory.embedder.down = True
        await memory.ingest(*({"text": f"item {n}"} for n in range(30)), wait=False)
        async with asyncio.timeout(10):
            while BACKLOG._value.get() != 30:  # noqa: ASYNC110 - it happens in the background
                await asyncio.sleep(0.05)
        assert (await memory.standalone.describe("default"))["passages_waiting"] == 30
