"""Chains of tasks: each does a part and sends a follow-up for the rest; one chain of a job runs at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol

import structlog
from celery import Task
from redis.exceptions import RedisError

from vicw_runtime.job_runs import recorded_run
from vicw_runtime.queue.celery_queue import begin, send
from vicw_runtime.queue.celery_runtime import declared, worker_of
from vicw_runtime.schedule.jobs import ScheduledJob
from vicw_shared.errors import RetryableError
from vicw_sleep.schedule.job_lock import SECONDS, JobLock
from vicw_sleep.schedule.scheduler import Slice
from vicw_sleep.wiring import SleepWiring

_log = structlog.get_logger()


class TaskProgress(Protocol):
    """Where a task continues, in the form of a message."""

    @property
    def written(self) -> list[object]:
        """The JSON form that the next task reads."""
        ...


type TaskSlice[M: TaskProgress] = Callable[[SleepWiring, M | None], Awaitable[Slice[M] | None]]


def chained_task[M: TaskProgress](
    name: str, what: str, read: Callable[[Sequence[Any]], M], job: ScheduledJob | None = None
) -> Callable[[TaskSlice[M]], Task[..., None]]:
    """Decorator: the function is the task ``name``, and runs one slice from where the task before it stopped.

    A follow-up with the same chain id ``of`` does the rest. The runs of a scheduled ``job`` are recorded.
    """

    def declare(run_slice: TaskSlice[M]) -> Task[..., None]:
        async def run_recorded(wiring: SleepWiring, start: M | None) -> Slice[M] | None:
            if job is None:
                return await run_slice(wiring, start)
            async with recorded_run(wiring.memory.graph.log, job, first=start is None) as run:
                done = await run_slice(wiring, start)
                run.failed, run.more = done is None, done is not None and done.next is not None
                return done

        def run(self: Task[..., None], after: list[Any] | None = None, of: str | None = None) -> None:
            def work(chain: str) -> int | None:
                start = read(after) if after is not None else None
                done = worker_of(self).runtime.run(self.request, lambda wiring: run_recorded(wiring, start))
                if done is None or (mark := done.next) is None:
                    return 0
                return None if send(self.app, name, expires=SECONDS, kwargs={"after": mark.written, "of": chain}) else 0

            if of is None:
                with suppress(RedisError):  # then the mark ends by itself
                    begin(worker_of(self).redis, name)
            if not worker_of(self).settings.sleep.paused:
                run_link(self, of, work, what)

        return declared(name, run, run_slice)

    return declare


def chain_lock(task: Task[Any, Any], name: str) -> JobLock:
    """Return the lock of the chain of tasks ``name``, for a task of the same worker."""
    return JobLock(worker_of(task).redis, name)


def run_link(task: Task[Any, Any], of: str | None, work: Callable[[str], int | None], what: str) -> None:
    """Run ``work(chain_id)`` of a task if the chain ``of`` holds the task's lock.

    ``work`` returns the cool-down in seconds before another chain may start, or None if the chain continues.
    """
    lock = chain_lock(task, task.name)
    try:
        chain = lock.hold(of)
    except RedisError as error:
        _log.warning(f"{what} is left to the next run: Redis does not answer", error=str(error))
        return
    if chain is None:
        _log.info(f"{what} is under way in another chain of tasks, or was a moment ago")
        return
    rest: int | None = 0
    try:
        rest = work(chain)
    except RetryableError as error:
        _log.warning(f"{what} failed; the next run tries again", error=error.detail)
    finally:
        if rest is not None:
            with suppress(RedisError):  # then the lock expires
                lock.end(chain, rest_seconds=rest)
