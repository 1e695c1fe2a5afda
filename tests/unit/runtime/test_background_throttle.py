"""Work in the background lets those go first who wait for an answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from support.fakes.hash_embedder import HashEmbedder
from vicw_runtime.background_throttle import REMOTE_LOAD_SECONDS, BackgroundThrottle, RemoteLoadThrottle, throttled
from vicw_runtime.throttled_indexes import TEXTS_AT_ONCE, BatchedVectors
from vicw_shared.ports import Lane
from vicw_shared.settings.concerns import REST_FACTOR


class Engine:
    """Counts its calls."""

    size = 3

    def __init__(self) -> None:
        self.calls: list[int] = []

    async def read(self, number: int) -> int:
        self.calls.append(number)
        return number + 1

    async def transact(self, work: Callable[[], Awaitable[int]]) -> int:
        return await work()

    def known(self) -> int:
        return self.size


async def test_a_throttled_operation_begins_when_no_request_runs() -> None:
    courtesy, engine = BackgroundThrottle(), Engine()
    courtesy.max_seconds = 60
    await courtesy.yield_to_foreground()
    background = throttled(engine, courtesy)
    with courtesy.foreground_request():
        with courtesy.foreground_request():
            begun = asyncio.create_task(background.read(1))
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.01)
        assert engine.calls == [], "one of two still waits"
    assert await begun == 2
    assert await background.read(4) == 5
    assert (background.known(), background.size) == (3, 3)


class Used:
    """A part of a store, with an operation of its own name."""

    @property
    def uses(self) -> Used:
        return self

    async def erasures(self) -> int:
        return 1


async def test_a_part_of_a_throttled_store_is_throttled_too() -> None:
    courtesy, engine = BackgroundThrottle(), Used()
    await courtesy.yield_to_foreground()
    background = throttled(engine, courtesy)
    with courtesy.foreground_request():
        begun = asyncio.create_task(background.uses.erasures())
        await asyncio.sleep(0.01)
        assert not begun.done()
    assert await begun == 1


async def test_under_constant_load_background_work_continues() -> None:
    courtesy, engine = BackgroundThrottle(), Engine()
    courtesy.max_seconds = 0.2
    await courtesy.yield_to_foreground()
    with courtesy.foreground_request():
        began = time.monotonic()
        first, second = [asyncio.create_task(throttled(engine, courtesy).read(n)) for n in (1, 2)]
        done, _ = await asyncio.wait({first, second}, return_when=asyncio.FIRST_COMPLETED)
        assert time.monotonic() - began >= 0.15
        assert len(done) == 1, "one step, whoever takes it"
        await asyncio.gather(first, second)
    assert time.monotonic() - began >= 0.35


async def test_an_operation_that_has_begun_is_not_throttled() -> None:
    """A transaction reads by the same handle: it would hold its lock meanwhile."""
    courtesy, engine = BackgroundThrottle(), Engine()
    courtesy.max_seconds = 60
    background = throttled(engine, courtesy)

    async def work() -> int:
        with courtesy.foreground_request():
            return await asyncio.ensure_future(background.read(1)) + await background.read(2)

    async with asyncio.timeout(5):
        assert await background.transact(work) == 5


async def test_background_work_rests_after_a_step_only_while_requests_come() -> None:
    courtesy = BackgroundThrottle()
    courtesy.quiet_seconds = 60
    with courtesy.foreground_request():
        pass
    await courtesy.yield_to_foreground()
    await courtesy.yield_to_foreground()  # so soon that it is the same step
    await asyncio.sleep(0.02)
    began = time.monotonic()
    await courtesy.yield_to_foreground()
    assert time.monotonic() - began >= 0.02 * REST_FACTOR * 0.9
    await asyncio.sleep(0.02)
    courtesy.quiet_seconds = 0
    began = time.monotonic()
    await courtesy.yield_to_foreground()
    assert time.monotonic() - began < 0.02 * REST_FACTOR / 2, "nobody has asked for long"


async def test_a_rest_factor_of_zero_turns_throttling_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BackgroundThrottle, "max_seconds", 60)
    courtesy = BackgroundThrottle(rest_factor=0)
    began = time.monotonic()
    with courtesy.foreground_request():
        for _ in range(3):
            await courtesy.yield_to_foreground()
            await asyncio.sleep(0.02)
    assert time.monotonic() - began < 1


async def test_an_ended_background_task_does_not_delay_other_steps() -> None:
    courtesy = BackgroundThrottle()
    courtesy.max_seconds = 60
    courtesy.quiet_seconds = 60
    with courtesy.foreground_request():
        pass
    await asyncio.create_task(courtesy.yield_to_foreground())  # its task ends
    async with asyncio.timeout(30):
        await courtesy.yield_to_foreground()


async def test_a_failed_request_counts_as_ended() -> None:
    courtesy = BackgroundThrottle()
    with pytest.raises(ValueError, match="no answer"), courtesy.foreground_request():
        raise ValueError("no answer")
    async with asyncio.timeout(5):
        await courtesy.yield_to_foreground()


async def test_yielding_to_requests_yields_to_the_event_loop() -> None:
    gone_round = asyncio.Event()
    asyncio.get_running_loop().call_soon(gone_round.set)
    await BackgroundThrottle().yield_to_foreground()
    assert gone_round.is_set()


async def test_background_work_rests_while_other_processes_answer_requests() -> None:
    ago: list[float | None] = [None]
    looks = 0

    async def asked() -> float | None:
        nonlocal looks
        looks += 1
        return ago[0]

    async def steps(count: int) -> float:
        began = time.monotonic()
        for _ in range(count):
            await courtesy.yield_to_foreground()
            await asyncio.sleep(0.01)
        return time.monotonic() - began

    courtesy = RemoteLoadThrottle(asked, 4)
    courtesy.poll_seconds = 0.05
    courtesy.quiet_seconds = 0.1
    assert await steps(10) < 0.3, "nobody ever asked"
    ago[0] = 1.0
    await asyncio.sleep(0.05)
    assert await steps(10) > 0.4
    assert looks < 40, "not at every step"
    ago[0] = REMOTE_LOAD_SECONDS + 1
    await asyncio.sleep(0.15)
    assert await steps(10) < 0.3, "that is over"


async def test_bulk_embedding_is_batched_and_single_text_under_load(monkeypatch: pytest.MonkeyPatch) -> None:
    texts, embedder = [f"text {n}" for n in range(20)], HashEmbedder()
    at_once: list[int] = []

    async def embed(asked: Sequence[str], lane: Lane) -> NDArray[np.float32]:
        at_once.append(len(asked))
        return await HashEmbedder().embed(asked, lane)

    monkeypatch.setattr(embedder, "embed", embed)
    whole = await HashEmbedder().embed(texts, Lane.BULK)
    for rests, most in ((0.0, TEXTS_AT_ONCE), (0.001, 1)):
        at_once.clear()
        courtesy = BackgroundThrottle(rests)
        with courtesy.foreground_request():
            pass
        rows = await BatchedVectors(embedder, courtesy).embed(texts, Lane.BULK)
        assert np.array_equal(rows, whole)
        assert max(at_once) == most
    assert (await BatchedVectors(embedder, courtesy).embed([], Lane.BULK)).shape == (0, whole.shape[1])
