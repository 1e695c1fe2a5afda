"""Every graph must know how far its words are those of this program, and make them anew while it serves."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import pytest

from support.stores.graph_records import Graph, edge, node, put
from vicw_core.index import sparse
from vicw_core.index.conversion import WordConversion
from vicw_shared.errors import UnavailableError
from vicw_shared.model import Label
from vicw_shared.ports import SparseVector, VectorStore
from vicw_shared.uids import make_uid
from vicw_stores.null_engines import NullVectorStore

COUNT = 150


async def tell(graph: Graph) -> list[str]:
    """Put items with a passage each; return the passages by uid."""
    names = [f"item {n}" for n in range(COUNT)]
    chunks = [node(f"{name}/0", Label.CHUNK, text=f"otters {name}") for name in names]
    items = [node(n, content_hash="h", qdrant_id=chunk.uid) for n, chunk in zip(names, chunks, strict=True)]
    await put(graph, [*items, *chunks], [edge("EVIDENCED_BY", name, f"{name}/0") for name in names])
    return sorted(chunk.uid for chunk in chunks)


class RecordingVectors(NullVectorStore):
    """Records the sparse vectors; fails once after some of them."""

    def __init__(self, fail_after: int | None = None) -> None:
        self.vectors: dict[str, SparseVector] = {}
        self._fail_after = fail_after

    async def set_sparse(self, vectors: Mapping[str, SparseVector]) -> None:
        if self._fail_after is not None and len(self.vectors) >= self._fail_after:
            self._fail_after = None
            raise UnavailableError("vectors", "down")
        assert not vectors.keys() & self.vectors.keys(), "no page is converted twice"
        self.vectors |= vectors


def conversion(graph: Graph, vectors: VectorStore | None, completed: list[bool]) -> WordConversion:
    async def open_vectors() -> VectorStore | None:
        return vectors

    async def complete() -> None:
        completed.append(True)

    return WordConversion(graph, open_vectors, complete, retry_seconds=0.01)


async def test_a_new_store_has_the_words_of_this_program(graph: Graph) -> None:
    assert await graph.words.converted() is None
    assert not (await graph.record.models()).converting
    completed: list[bool] = []
    await conversion(graph, None, completed).run()
    assert not completed, "there is nothing to do"


async def test_a_store_of_an_earlier_version_is_converted_and_goes_on_after_a_failure(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    chunks = await tell(graph)
    monkeypatch.setattr(sparse, "VERSION", sparse.VERSION + 1)
    assert await graph.words.converted() == ""
    assert (await graph.record.models()).converting
    vectors, completed = RecordingVectors(fail_after=100), list[bool]()
    await conversion(graph, vectors, completed).run()
    assert sorted(vectors.vectors) == chunks
    assert vectors.vectors[make_uid("item 7/0")] == sparse.encode_document("otters item 7")
    assert (completed, await graph.words.converted()) == ([True], None)
    assert not (await graph.record.models()).converting


async def test_a_page_is_recorded_only_by_the_holder_of_the_lock(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = await tell(graph)
    monkeypatch.setattr(sparse, "VERSION", sparse.VERSION + 1)
    words = graph.words
    assert not await words.renew(chunks[:2], holder="nobody")
    assert await words.lock("a", seconds=60)
    assert not await words.lock("b", seconds=60)
    assert not await words.renew(chunks[:2], holder="b")
    assert await words.converted() == ""
    assert await words.renew([*chunks[:2], make_uid("unknown")][:2], holder="a")
    assert await words.converted() == chunks[1]
    assert not await words.complete(holder="b")
    assert await words.lock("a", seconds=0.05), "its holder renews it"
    await asyncio.sleep(0.1)
    assert await words.lock("b", seconds=60), "a process that died has it no longer"
    assert await words.complete(holder="b")
    assert await words.converted() is None


async def test_a_version_that_changes_again_begins_anew(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = await tell(graph)
    first = sparse.VERSION
    monkeypatch.setattr(sparse, "VERSION", first + 1)
    await graph.words.lock("a", seconds=60)
    await graph.words.renew(chunks[:5], holder="a")
    monkeypatch.setattr(sparse, "VERSION", first + 2)
    assert await graph.words.converted() == ""


async def test_a_passage_that_proves_no_item_is_left_to_the_outbox(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(graph, [replace(node("alone", Label.CHUNK, text="alone"), name="passage")])
    monkeypatch.setattr(sparse, "VERSION", sparse.VERSION + 1)
    vectors, completed = RecordingVectors(), list[bool]()
    await conversion(graph, vectors, completed).run()
    assert (vectors.vectors, completed) == ({}, [True])
