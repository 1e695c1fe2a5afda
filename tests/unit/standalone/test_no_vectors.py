"""A memory without vectors (VICW_EMBEDDER=none): what it finds, what it refuses, and the way from and to a model."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.fakes.hash_embedder import HashEmbedder
from support.stores.memory import Memory, open_memory, settings_for
from support.stores.reindexed import reindexed
from vicw_runtime.platform.settings import PlatformSettings
from vicw_shared.errors import InvalidInputError, ModelMismatchError, SettingsError
from vicw_shared.ports import NO_MODEL, Lane, ModelChange
from vicw_shared.settings import StorageSettings
from vicw_standalone.doctor.findings import Severity
from vicw_standalone.doctor.service import examine
from vicw_standalone.settings import StandaloneSettings

FILLER = tuple({"id": f"f{n}", "text": f"Nothing of any weight, line {n}: rain, bread, socks {n}."} for n in range(30))


def settings_without_vectors(store: Path) -> StandaloneSettings:
    return replace(settings_for(store), storage=StorageSettings(data_dir=store, embedder="none"))


@asynccontextmanager
async def open_without_vectors(store: Path, embedder: HashEmbedder | None = None) -> AsyncIterator[Memory]:
    """Open a memory without vectors that must be clean when it is closed."""
    async with open_memory(store, embedder, vectors=False) as memory:
        yield memory
        report = await memory.check()
        assert (report.violations, report.waiting, report.points) == ([], 0, 0)


async def test_without_vectors_texts_names_and_tags_are_found(store: Path) -> None:
    embedder = HashEmbedder()
    async with open_without_vectors(store, embedder) as memory:
        stored = await memory.ingest(
            {"id": "a", "text": "An apple fell.", "name": "The Orchard", "tags": ["harvest"]},
            {"id": "b", "text": "A boat sank in the harbour."},
            wait=True,
        )
        assert stored.job is None, "what was stored is found at once"
        assert [await memory.found(word) for word in ("apples", "orchard", "harvests")] == [["a"]] * 3
        answer = await memory.retrieve("the sunken boat in the harbour", explain=True)
        assert answer.results[0].id == "b"
        assert answer.degraded == ()
        assert "embed" not in answer.took_ms
        assert answer.explain is not None
        assert set(answer.explain.channels) == {"fulltext"}
    assert embedder.seen == []
    assert not (store / "vectors").exists()


async def test_without_vectors_a_long_item_does_not_crowd_out_others(store: Path) -> None:
    pages = [
        f"The harbour of the harbour, a harbour of harbours, page {n}. " + "Rain, bread, socks. " * 60
        for n in range(150)
    ]
    async with open_without_vectors(store) as memory:
        await memory.ingest({"id": "book", "text": "\n\n".join(pages)}, wait=True)
        await memory.ingest(
            *({"id": f"s{n}", "text": f"Far from any harbour, letter {n}. {'Rain. ' * 190}"} for n in range(3))
        )
        assert set(await memory.found("harbour", limit=4, expand={"hops": 0})) == {"book", "s0", "s1", "s2"}


async def test_without_vectors_a_retracted_item_is_not_found(store: Path) -> None:
    async with open_without_vectors(store) as memory:
        await memory.ingest({"id": "a", "text": "an apple"}, {"id": "b", "text": "another apple"})
        assert await memory.retract("a") == ["retracted"]
        assert await memory.found("apple") == ["b"]


async def test_without_vectors_parts_of_identifiers_and_cjk_words_are_found(store: Path) -> None:
    async with open_without_vectors(store) as memory:
        await memory.ingest(
            {"id": "code", "text": "def readCsvFile(path): ..."},
            {"id": "ja", "text": "東京大学で研究しています"},
            *FILLER,
        )
        assert await memory.found("csv") == await memory.found("read_csv_file") == ["code"]
        assert await memory.found("大学") == ["ja"]


async def test_without_vectors_vector_channels_are_refused_or_degraded(store: Path) -> None:
    async with open_without_vectors(store) as memory:
        await memory.ingest({"id": "a", "text": "an apple"})
        with pytest.raises(InvalidInputError, match=r"channels: .*VICW_EMBEDDER=none.*fulltext"):
            await memory.retrieve("apple", channels=["dense", "bm25"])
        answer = await memory.retrieve("apple", channels=["dense", "fulltext"])
        assert ([result.id for result in answer.results], answer.degraded) == (["a"], ("dense",))


async def test_without_vectors_hits_spread_to_neighbours_and_named_pages(store: Path) -> None:
    turns = ["Hi!", "We saw a comet over the lake.", "Wow, lucky you!"]
    items: list[dict[str, Any]] = [
        {"id": f"t{n}", "text": text, "speaker": "Ana", "flow_id": "chat"} for n, text in enumerate(turns)
    ]
    pages = (
        {"id": "film", "name": "The Dry (film)", "text": "The Dry is a film after a novel by Jane Harper."},
        {"id": "harper", "name": "Jane Harper", "text": "She was born in Manchester and grew up in Virginia."},
    )
    async with open_without_vectors(store) as memory:
        await memory.ingest(*items, *FILLER)
        assert set(await memory.found("a comet over the lake", limit=3)) == {"t0", "t1", "t2"}
        await memory.ingest(*pages, *({**one, "id": f"p{one['id']}"} for one in FILLER), context="wiki")
        assert (await memory.found("the film The Dry is after whose novel?", context="wiki", limit=2)) == [
            "film",
            "harper",
        ]


async def test_without_vectors_a_shared_tag_brings_an_associative_neighbour(store: Path) -> None:
    async with open_without_vectors(store) as memory:
        await memory.ingest(
            {"id": "a", "text": "The amulet is a fake.", "tags": ["betrayal"]},
            {"id": "b", "text": "He burned the bridge.", "tags": ["betrayal"]},
        )
        answer = await memory.retrieve("amulet")
        assert [(result.id, result.kind) for result in answer.results] == [("a", "anchor"), ("b", "associative")]


async def test_without_vectors_items_about_the_viewer_score_higher(store: Path) -> None:
    async with open_without_vectors(store) as memory:
        await memory.ingest({"id": "a", "text": "Allergic to nuts and pollen.", "about": ["Ana"]}, *FILLER)
        viewer = {"user": "Ana", "chat": "private"}
        plain, known = [await memory.retrieve("allergic rain?", limit=40, viewer=v) for v in (None, viewer)]
        scores = [next(r.score for r in answer.results if r.id == "a") for answer in (plain, known)]
        assert scores[1] > scores[0]


async def test_turning_vectors_off_keeps_the_index_and_reindex_restores_it(store: Path) -> None:
    async with open_memory(store) as memory:
        await memory.ingest({"id": "a", "text": "an apple"}, {"id": "b", "text": "a boat"})
    embedder = HashEmbedder()
    async with open_without_vectors(store, embedder) as memory:
        await memory.ingest({"id": "c", "text": "a second apple"})
        await memory.retract("b")
        assert set(await memory.found("apple")) == {"a", "c"}
        assert (await memory.standalone.graph.record.models()).used == NO_MODEL
    assert embedder.seen == []
    assert (store / "vectors").is_dir()

    with pytest.raises(ModelMismatchError, match=r"no vectors.*vicw reindex.*VICW_EMBEDDER=none"):
        async with open_memory(store):
            pass
    done = await reindexed(settings_for(store), None, embedder)
    assert (done.before, done.embedded) == (NO_MODEL, 1)
    assert [text for lane, text in embedder.seen if lane is Lane.BULK and "boat" in text] == []
    async with open_memory(store) as memory:
        assert set(await memory.found("apple", channels=["dense"])) == {"a", "c"}
        assert (await memory.check()).violations == []


async def test_reindex_of_a_store_without_vectors_requires_a_model_name(store: Path) -> None:
    async with open_without_vectors(store) as memory:
        await memory.ingest({"id": "a", "text": "an apple"})
    with pytest.raises(SettingsError, match=r"VICW_EMBEDDER is none.*vicw reindex --model NAME"):
        await reindexed(settings_without_vectors(store), None)
    async with open_memory(store, vectors=False) as memory:
        reindexing = memory.standalone.reindexing
        memory.standalone.index_engine.grace_seconds = 0
        with pytest.raises(InvalidInputError, match="vicw reindex --model NAME"):
            await reindexing.start(None)
    done = await reindexed(settings_without_vectors(store), "hash", HashEmbedder())
    assert (done.before, done.embedded) == (NO_MODEL, 1)
    async with open_memory(store) as memory:
        assert await memory.found("apple", channels=["dense"]) == ["a"]


async def test_online_reindex_adds_vectors_while_full_text_answers(store: Path) -> None:
    async with open_memory(store, HashEmbedder(), vectors=False) as memory:
        await memory.ingest({"id": "a", "text": "an apple"})
        reindexing = memory.standalone.reindexing
        memory.standalone.index_engine.grace_seconds = 0
        await reindexing.start("hash")
        async with asyncio.timeout(20):
            while reindexing.work.running:
                assert await memory.found("apple") == ["a"]
                await asyncio.sleep(0.01)
        assert reindexing.work.error is None
        await memory.ingest({"id": "b", "text": "another apple"})
        answer = await memory.retrieve("apple", channels=["dense"])
        assert ({result.id for result in answer.results}, answer.degraded) == ({"a", "b"}, ())
        assert (await memory.check()).violations == []
    async with open_without_vectors(store) as memory:
        assert set(await memory.found("apple")) == {"a", "b"}


async def test_an_interrupted_reindex_from_no_vectors_continues(store: Path) -> None:
    async with open_without_vectors(store) as memory:
        await memory.ingest({"id": "a", "text": "an apple"})
        model = await HashEmbedder().identity()
        await memory.standalone.graph.record.set_model(NO_MODEL, ModelChange(model))
    async with open_without_vectors(store) as memory:
        assert await memory.found("apple") == ["a"]
    done = await reindexed(settings_without_vectors(store), None, HashEmbedder())
    assert (done.model, done.embedded) == (model, 1)


def test_the_platform_refuses_to_work_without_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VICW_EMBEDDER", "none")
    with pytest.raises(SettingsError, match=r"VICW_EMBEDDER is none.*Unset it.*VICW_EMBEDDING_URL"):
        PlatformSettings.read()


async def fill(store: Path, *, vectors: bool) -> None:
    async with open_memory(store, vectors=vectors) as memory:
        await memory.ingest({"id": "a", "text": "an apple"})


def test_doctor_accepts_a_store_without_vectors(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llama_cpp", None)  # it is not loaded
    asyncio.run(fill(store, vectors=False))
    found = {one.what: one for one in examine(settings_without_vectors(store))}
    assert [one for one in found.values() if one.verdict is Severity.PROBLEM] == []
    assert found["model"].detail.startswith("none (VICW_EMBEDDER=none)")
    assert found["store"].detail == "has no vectors"
    assert "vector index" not in found


def test_doctor_notes_unused_vectors_of_a_store(store: Path) -> None:
    asyncio.run(fill(store, vectors=True))
    found = {one.what: one for one in examine(settings_without_vectors(store))}
    assert found["store"].verdict is Severity.NOTE
    assert found["store"].detail.startswith("has vectors of hash")
