"""The change of the model over the embedded stores: what is in the new index, when, and what it costs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from support.fakes.hash_embedder import HashEmbedder
from support.stores.memory import Memory, open_memory, settings_for
from support.stores.reindexed import open_reindexing, reindexed
from vicw_ingest.index.service import Indexer
from vicw_retrieval.search.waiting_passages import PENDING
from vicw_runtime.indexes import Index, Indexes
from vicw_shared.errors import InvalidInputError, ModelMismatchError, StateConflictError, UnavailableError
from vicw_shared.ports import Lane, ModelChange, ModelIdentity, Models, Point
from vicw_sleep.reindex.change import Reindexer
from vicw_sleep.reindex.lock import ChangeLock
from vicw_sleep.reindex.port import NewIndex
from vicw_standalone.wiring import Standalone
from vicw_stores.edge.folders import folder_of, others


class BlockingEmbedder(HashEmbedder):
    """Blocks at bulk work once ``left`` texts are embedded, as if the model took very long."""

    def __init__(self, name: str, left: int) -> None:
        super().__init__(name)
        self.left = left
        self.stopped = asyncio.Event()
        self.go_on = asyncio.Event()

    async def embed(self, texts: Sequence[str], lane: Lane) -> NDArray[np.float32]:
        if lane is Lane.BULK and self.left < len(texts):
            self.stopped.set()
            await self.go_on.wait()
        self.left -= len(texts)
        return await super().embed(texts, lane)

    @property
    def embedded(self) -> list[str]:
        return [text for lane, text in self.seen if lane is Lane.BULK]


def items(*numbers: int) -> list[dict[str, str]]:
    return [{"id": f"i{n}", "text": f"unique{n} apples", "speaker": "Ana"} for n in numbers]


async def change(memory: Memory, name: str | None, *, grace_seconds: float = 0) -> None:
    """Change the model as the server does, and wait for the end. Nobody is to be asking, unless there is grace."""
    memory.standalone.index_engine.grace_seconds = grace_seconds
    await memory.standalone.reindexing.start(name)
    async with asyncio.timeout(30):
        while memory.standalone.reindexing.work.running:  # noqa: ASYNC110 - it happens in the background
            await asyncio.sleep(0.02)
    assert memory.standalone.reindexing.work.error is None


async def models(memory: Memory) -> Models:
    return await memory.standalone.graph.record.models()


def bulk(embedder: HashEmbedder) -> list[str]:
    return [text for lane, text in embedder.seen if lane is Lane.BULK]


async def test_the_model_is_changed_while_items_are_stored_and_found(store: Path) -> None:
    old, new = HashEmbedder("old"), HashEmbedder("new")
    async with open_memory(store, old, new) as memory:
        await memory.ingest(*items(*range(150)), wait=True)
        known, halt = list(range(150)), asyncio.Event()

        async def remember() -> None:
            number = 1000
            while not halt.is_set():
                await memory.ingest(*items(number), wait=number % 2 == 0)
                if number % 2 == 0:
                    known.append(number)
                await memory.ingest({"id": "edited", "text": f"edition{number}"}, wait=False)
                number += 1
            known.extend(range(1000, number))

        async def ask() -> None:
            number = 0
            while not halt.is_set():
                wanted = known[number % len(known)]
                answer = await memory.retrieve(f"unique{wanted}", limit=3)
                assert [result.id for result in answer.results][:1] == [f"i{wanted}"]
                assert set(answer.degraded) <= {PENDING}, "what is stored meanwhile waits"
                number += 7
                await asyncio.sleep(0)

        async with asyncio.TaskGroup() as group:
            group.create_task(remember())
            group.create_task(ask())
            await asyncio.sleep(0.2)
            await change(memory, "new", grace_seconds=3)
            await asyncio.sleep(0.2)
            halt.set()

        used = (await models(memory)).used
        assert used is not None
        assert (used.name, (await models(memory)).change) == ("new", None)
        await memory.standalone.indexer.drain()
        for number in known:
            assert await memory.found(f"unique{number}", limit=1) == [f"i{number}"]
        assert {lane for lane, _ in new.seen} == {Lane.BULK, Lane.QUERY}
        report = await memory.check()
        assert (report.violations, report.waiting) == ([], 0)
        asked = len(old.seen)
        await memory.ingest(*items(5000))
        assert (await memory.found("unique5000", limit=1), len(old.seen)) == (["i5000"], asked), "the old one rests"
        assert len(others(store, ())) == 2
        (dropped,) = await memory.standalone.reindexing.drop_old()
        assert (dropped.name, len(others(store, ()))) == ("old", 1)
    async with open_memory(store, new) as memory:
        assert await memory.found("unique5000", limit=1) == ["i5000"]


async def test_an_interrupted_reindexing_continues_and_embeds_nothing_twice(store: Path) -> None:
    first = BlockingEmbedder("new", left=100)
    async with open_memory(store, HashEmbedder("old"), first) as memory:
        memory.standalone.indexer.batch = 20
        await memory.ingest(*items(*range(300)))
        await memory.standalone.reindexing.start("new")
        await first.stopped.wait()
        assert await memory.found("unique7", limit=1) == ["i7"]
    again = HashEmbedder("new")
    async with open_memory(store, HashEmbedder("old"), again) as memory:
        state = await models(memory)
        assert (state.used and state.used.name, state.change and state.change.model.name) == ("old", "new")
        assert await memory.found("unique7", limit=1) == ["i7"]
        await change(memory, None)
        assert len(first.embedded) >= 80
        assert len(bulk(again)) == 300 - len(first.embedded)
        assert not set(bulk(again)) & set(first.embedded)
        assert await memory.found("unique7", limit=1) == ["i7"]


async def test_only_the_index_in_use_is_written_during_an_unfinished_change(store: Path) -> None:
    async with open_memory(store, HashEmbedder("old")) as memory:
        await memory.ingest(*items(1))
        used = (await models(memory)).used
        assert used is not None
        other = await HashEmbedder("new").identity()
        await memory.standalone.graph.record.set_model(used, ModelChange(other))
    new = HashEmbedder("new")
    async with open_memory(store, HashEmbedder("old"), new) as memory:
        await memory.ingest(*items(2))
        assert bulk(new) == [], "only the index in use is written"
        await change(memory, None)
        assert await memory.found("unique1", limit=1) == ["i1"]
        assert len(bulk(new)) == 2


async def test_changing_back_to_the_old_model_embeds_only_new_items(store: Path) -> None:
    old, new = HashEmbedder("old"), HashEmbedder("new")
    async with open_memory(store, old, new) as memory:
        await memory.ingest(*items(*range(50)))
        await change(memory, "new")
        await memory.ingest(*items(99))
        before = len(bulk(old))
        await change(memory, "old")
        assert len(bulk(old)) == before + 1
        assert await memory.found("unique99", limit=1) == ["i99"]


async def test_offline_reindex_builds_the_new_index_beside_the_current_one(store: Path) -> None:
    async with open_memory(store, HashEmbedder("old")) as memory:
        await memory.ingest(*items(*range(30)))
    new = HashEmbedder("new")
    done = await reindexed(settings_for(store), "new", new)
    assert (done.embedded, done.passages) == (30, 30)
    assert done.before is not None
    async with open_memory(store, new) as memory:
        assert await memory.found("unique7", limit=1) == ["i7"]
    with pytest.raises(ModelMismatchError, match="vicw reindex"):
        await Standalone(settings_for(store), HashEmbedder("old")).open()
    async with open_reindexing(settings_for(store)) as reindexing:
        status = "\n".join((await reindexing.status()).lines())
        assert "new (64-d" in status
        assert [model.name for model in await reindexing.drop_old()] == ["old"]


async def test_an_index_that_cannot_be_opened_is_made_anew(store: Path) -> None:
    async with open_memory(store) as memory:
        await memory.ingest(*items(*range(5)))
        identity = await memory.embedder.identity()
    for path in folder_of(store, identity, identity).rglob("*.json"):
        path.write_text("not json")
    done = await reindexed(settings_for(store), None, HashEmbedder())
    assert (done.embedded, done.before) == (5, None)
    async with open_memory(store) as memory:
        assert await memory.found("unique3", limit=1) == ["i3"]


async def test_points_that_differ_only_in_their_payload_are_not_embedded(store: Path) -> None:
    new = HashEmbedder("new")
    async with open_memory(store, HashEmbedder("old"), new) as memory:
        await memory.ingest(*items(1, 2))
        await change(memory, "new")
        await change(memory, "old")
        await memory.ingest({"id": "i1", "text": "another text"})  # the first version is retired
        index = await memory.standalone.folders.open(await _identity_of_started(memory, "new"))
        await index.vectors.upsert(
            [Point("00000000-0000-0000-0000-000000000001", _unit(), None, {"tenant": "t", "label": "Chunk"})]
        )
        embedded = len(bulk(new))
        await change(memory, "new")
        assert bulk(new)[embedded:] == ["[Domain: general] [Type: document] another text"]
        assert await memory.found("unique1") != ["i1"]
        assert (await memory.check()).violations == [], "a point of no passage is gone, too"


async def _identity_of_started(memory: Memory, name: str) -> ModelIdentity:
    return (await memory.standalone.embedders.another(name, None)).model


def _unit() -> NDArray[np.float32]:
    row = np.zeros(64, dtype=np.float32)
    row[0] = 1
    return row


async def test_a_passage_claimed_before_the_change_reaches_the_new_index_too(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An indexer that is slow, and knows only of the index in use when it takes a passage."""
    slow = BlockingEmbedder("old", left=10)
    async with open_memory(store, slow, HashEmbedder("new")) as memory:
        standalone = memory.standalone
        await memory.ingest(*items(*range(10)))
        standalone.indexer.everything = False

        async def of_old(model: ModelIdentity) -> Index:
            return Index(model, standalone.vectors, slow)

        unknowing = Indexes(standalone.graph.record, of_old)
        await unknowing.open()
        late: list[asyncio.Task[bool]] = []

        async def everybody_knows() -> None:
            if not late:
                await memory.ingest(*items(77), wait=False)
                late.append(asyncio.create_task(Indexer(standalone.graph.outbox, unknowing, 16, 30).drain(seconds=0.1)))
                await slow.stopped.wait()
                asyncio.get_running_loop().call_later(1.0, slow.go_on.set)
            await standalone.indexes.refresh()

        target = await standalone.folders.open(await _identity_of_started(memory, "new"))
        both = Indexer(standalone.graph.outbox, standalone.indexes, 16, 30)
        monkeypatch.setattr(standalone.index_engine, "known", everybody_knows)
        new = NewIndex(target, both)
        await Reindexer(standalone.graph, standalone.index_engine, new, lambda *_: None).run()
        await late[0]
        assert await memory.found("unique77", limit=1) == ["i77"]
        report = await memory.check()
        assert (report.violations, report.points) == ([], 11)


class FailingEmbedder(HashEmbedder):
    """Fails at one word."""

    async def embed(self, texts: Sequence[str], lane: Lane) -> NDArray[np.float32]:
        if any("unique3 " in text for text in texts):
            raise UnavailableError("embedding", "the embedding server answered 500")
        return await super().embed(texts, lane)


async def test_a_model_failing_on_a_passage_is_not_put_into_use(store: Path) -> None:
    async with open_memory(store, HashEmbedder("old"), FailingEmbedder("new")) as memory:
        await memory.ingest(*items(*range(5)))
        await memory.standalone.reindexing.start("new")
        async with asyncio.timeout(60):
            while memory.standalone.reindexing.work.running:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert "cannot be embedded with new" in (memory.standalone.reindexing.work.error or "")
        assert await memory.found("unique3", limit=1) == ["i3"]
        state = await models(memory)
        assert (state.used and state.used.name) == "old"


async def test_reindex_to_an_unknown_model_is_refused_and_starts_no_change(memory: Memory) -> None:
    await memory.ingest(*items(1))
    with pytest.raises(InvalidInputError, match="model"):
        await memory.standalone.reindexing.start("no-such-model")
    assert (await models(memory)).change is None


@pytest.mark.parametrize("away", [True, False])
async def test_a_reindex_that_lost_its_lock_keeps_the_old_model(
    store: Path, monkeypatch: pytest.MonkeyPatch, away: bool
) -> None:
    async with open_memory(store, HashEmbedder("old"), HashEmbedder("new")) as memory:
        graph, swaps = memory.standalone.graph, 0
        await memory.ingest(*items(1))

        holders: list[str] = []
        take = graph.record.lock_model_change

        async def noted(holder: str, *, seconds: float) -> bool:
            holders.append(holder)
            return await take(holder, seconds=seconds)

        monkeypatch.setattr(graph.record, "lock_model_change", noted)

        async def swap(_: NewIndex) -> None:
            nonlocal swaps
            swaps += 1
            await take(holders[0], seconds=0)
            assert await take("another", seconds=60)
            if away:
                raise UnavailableError("vectors", "is away")

        target = await memory.standalone.folders.open(await _identity_of_started(memory, "new"))
        indexer = Indexer(graph.outbox, memory.standalone.indexes, 16, 30)
        engine = memory.standalone.index_engine
        monkeypatch.setattr(engine, "swap", swap)
        with pytest.raises(StateConflictError, match="has expired"):
            await Reindexer(graph, engine, NewIndex(target, indexer), lambda *_: None, lock_seconds=0.5).run()
        state = await models(memory)
        assert (swaps, state.used and state.used.name) == (1, "old")
        assert state.change is not None


async def test_two_runs_cannot_change_the_model_at_once(store: Path) -> None:
    async with open_memory(store, HashEmbedder("old"), HashEmbedder("new")) as memory:
        await memory.ingest(*items(1))
        one, other = (ChangeLock(memory.standalone.graph.record, seconds=0.5) for _ in range(2))
        async with one.held():
            await asyncio.sleep(0.7)
            one.require()
            with pytest.raises(StateConflictError, match="is running on this store"):
                async with other.held():
                    pass
        async with other.held():
            await asyncio.sleep(0.5)
            with pytest.raises(StateConflictError, match="has expired"):
                one.require()


async def test_ingest_is_refused_without_an_embedder_for_the_current_index(store: Path) -> None:
    async with open_memory(store, HashEmbedder("old")) as memory:
        used = (await models(memory)).used
        assert used is not None
        other = await HashEmbedder("new").identity()
        await memory.standalone.graph.record.set_model(other)
        await memory.standalone.indexes.refresh()
        with pytest.raises(UnavailableError, match="new"):
            await memory.ingest(*items(1))
        assert memory.standalone.indexes.behind is not None
        assert (await memory.check()).nodes == 0, "nothing was stored"
        await memory.standalone.graph.record.set_model(used)
        await memory.standalone.indexes.refresh()
        await memory.ingest(*items(1))
        assert await memory.found("unique1") == ["i1"]
