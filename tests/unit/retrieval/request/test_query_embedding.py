from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from support.fakes.hash_embedder import HashEmbedder
from support.stores.memory import Memory
from vicw_retrieval.channels.dense import QueryEmbedder
from vicw_shared.errors import UnavailableError
from vicw_shared.ports import Lane, TermFrequencies

WRAPPED, BARE = "q: [Domain: code] sort a list", "q: sort a list"


async def test_a_query_vector_can_lie_midway_between_wrapped_and_bare_query() -> None:
    embedder = HashEmbedder()
    query = QueryEmbedder(embedder, "q: ", "sort a list")
    first = await query.embed("code")
    wrapped, bare = await embedder.embed([WRAPPED, BARE], embedder.seen[0][0])
    assert first.vector is not None
    assert np.allclose(first.vector, wrapped)
    middle = await query.embed("code", bare=True)
    assert middle.vector is not None
    assert middle.vector @ wrapped == pytest.approx(middle.vector @ bare, abs=1e-6)
    assert np.linalg.norm(middle.vector) == pytest.approx(1)
    assert (middle.wrapped, middle.bare, first.bare) == (WRAPPED, True, False)


async def test_each_wording_is_embedded_once() -> None:
    embedder = HashEmbedder()
    query = QueryEmbedder(embedder, "q: ", "sort a list")
    assert (query.has_answered, query.known("code")) == (False, None)
    await query.embed("code", bare=True)
    await query.embed(None)
    await query.embed("code")
    assert embedder.questions() == [WRAPPED, BARE]
    assert query.has_answered


async def test_a_wording_that_could_not_be_embedded_is_not_known() -> None:
    embedder = HashEmbedder()
    query = QueryEmbedder(embedder, "", "sort a list")
    await query.embed(None)
    embedder.down = True
    with pytest.raises(UnavailableError):
        await query.embed("code")
    assert query.known(None) is not None
    assert query.known("code") is None, "its hits would be those of another wording"


async def test_what_was_begun_ahead_is_embedded_once_and_its_error_is_the_search_s() -> None:
    embedder = HashEmbedder()
    query = QueryEmbedder(embedder, "q: ", "sort a list")
    with query.opened():
        query.begin("code")
        await asyncio.sleep(0)
        assert embedder.questions() == [WRAPPED], "before anybody waits for it"
        assert (await query.embed("code")).wrapped == WRAPPED
        assert embedder.questions() == [WRAPPED]
        embedder.down = True
        query.begin("story")
        with pytest.raises(UnavailableError):
            await query.embed("story")
        embedder.down = False
        await query.embed("story")
        assert len(embedder.questions()) == 2, "another try asks anew"


async def test_what_nobody_waits_for_is_cancelled() -> None:
    given_up = asyncio.Event()

    class Slow(HashEmbedder):
        async def embed(self, texts: Sequence[str], lane: Lane) -> NDArray[np.float32]:
            try:
                await asyncio.sleep(3600)
                return await super().embed(texts, lane)
            except asyncio.CancelledError:
                given_up.set()
                raise

    query = QueryEmbedder(Slow(), "q: ", "sort a list")
    with query.opened():
        query.begin("code")
        await asyncio.sleep(0)
    await asyncio.wait_for(given_up.wait(), 5)
    embedder = HashEmbedder()
    query = QueryEmbedder(embedder, "q: ", "sort a list")
    with query.opened():
        pass
    query.begin("code")  # its look-ups went on when another one had failed
    await asyncio.sleep(0)
    assert embedder.questions() == []


@pytest.mark.parametrize("domain", ["code", None])
async def test_a_question_is_embedded_while_its_words_are_looked_up(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, domain: str | None
) -> None:
    await memory.ingest({"id": "a", "text": "Ben repaired the crane."}, domain="code")
    frequencies, embed = memory.standalone.graph.frequencies, memory.embedder.embed
    asked: list[str] = []
    is_asked = asyncio.Event()

    async def noted(texts: Sequence[str], lane: Lane) -> NDArray[np.float32]:
        asked.extend(texts)
        is_asked.set()
        return await embed(texts, lane)

    async def slow(*given: Any) -> TermFrequencies:
        await asyncio.wait_for(is_asked.wait(), 5)
        return await frequencies(*given)

    monkeypatch.setattr(memory.embedder, "embed", noted)
    monkeypatch.setattr(memory.standalone.graph, "frequencies", slow)
    answer = await memory.retrieve("Who repaired the crane?", domain=domain)
    assert [result.id for result in answer.results] == ["a"]
    assert len(asked) == 1
