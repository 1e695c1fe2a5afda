"""A thread that was begun is waited for, however often whoever waits is cancelled."""

from __future__ import annotations

import asyncio
import threading

import pytest

from vicw_core.background import finish, in_thread


async def test_shielded_work_returns_its_result() -> None:
    assert await in_thread(divmod, 7, 2) == (3, 1)


async def test_shielded_work_raises_its_error() -> None:
    with pytest.raises(ZeroDivisionError):
        await in_thread(divmod, 7, 0)


@pytest.mark.parametrize("cancellations", [1, 3])
async def test_a_cancelled_caller_waits_until_the_thread_has_ended(cancellations: int) -> None:
    go, ended = threading.Event(), threading.Event()

    def work() -> None:
        go.wait(20)
        ended.set()

    caller = asyncio.create_task(in_thread(work))
    for _ in range(cancellations):
        await asyncio.sleep(0.01)
        caller.cancel()
    await asyncio.sleep(0.01)
    assert not caller.done()
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert ended.is_set()


async def test_work_with_a_hurry_callback_is_notified_of_a_cancellation() -> None:
    told = threading.Event()
    caller = asyncio.create_task(finish(asyncio.to_thread(told.wait, 20), hurry=told.set))
    await asyncio.sleep(0.01)
    assert not told.is_set()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert told.is_set()


async def test_an_error_after_a_cancellation_does_not_replace_it() -> None:
    go = threading.Event()

    def work() -> None:
        go.wait(20)
        raise ValueError

    caller = asyncio.create_task(in_thread(work))
    await asyncio.sleep(0.01)
    caller.cancel()
    await asyncio.sleep(0.01)
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await caller
