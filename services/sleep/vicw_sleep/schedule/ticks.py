"""What the platform's clock sends, and when."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import redis
import structlog
from celery import Celery
from redis.exceptions import RedisError

from vicw_runtime.queue.celery_queue import (
    CATCH_UP,
    CONSOLIDATE,
    DREAM,
    EVICT,
    EXPIRES_SECONDS,
    EXTRACT,
    EXTRACT_QUEUE,
    INDEX,
    INGEST_QUEUE,
    MIRROR,
    RECONCILE,
    RESOLVE,
    SEND_FAILURES,
    SLEEP_QUEUE,
    WATCH,
    send,
    waiting,
)
from vicw_runtime.schedule.cron import Schedule
from vicw_runtime.schedule.jobs import ScheduledJob, schedules
from vicw_shared.clock import now
from vicw_sleep.settings import SleepServiceSettings

POLL_SECONDS = 1.0
"""Pause between two looks at what is due."""
_MAX_DELAY_SECONDS = 60.0
_SCHEDULED = {
    ScheduledJob.CONSOLIDATION: (CONSOLIDATE, SLEEP_QUEUE),
    ScheduledJob.DREAM: (DREAM, SLEEP_QUEUE),
    ScheduledJob.RESOLVE: (RESOLVE, SLEEP_QUEUE),
    ScheduledJob.EVICTION: (EVICT, INGEST_QUEUE),
    ScheduledJob.RECONCILE: (RECONCILE, SLEEP_QUEUE),
}
"""Message and queue of each scheduled job."""
_log = structlog.get_logger()


@dataclass(slots=True)
class Tick:
    """A message sent every ``seconds``, first at start: a clock may be restarted more often than that.

    With a ``schedule``, it is sent when due, and retried after ``seconds`` if it could not be sent.
    """

    task: str
    queue: str
    seconds: float
    expires: float
    due: float = float("-inf")
    schedule: Schedule | None = None
    owed: bool = False

    def is_due(self, instant: float) -> bool:
        """Return whether the message is due, by the monotonic clock and, with a schedule, by the wall clock."""
        if self.schedule is not None:
            self.owed = self.schedule.due(now()) or self.owed
        return instant >= self.due and (self.schedule is None or self.owed)


def ticks(settings: SleepServiceSettings) -> list[Tick]:
    """Return all messages with their times."""
    poll_seconds = settings.sleep.poll_seconds
    due = schedules(settings, now())
    scheduled = {
        job: Tick(task, queue, _MAX_DELAY_SECONDS, EXPIRES_SECONDS, schedule=due[job])
        for job, (task, queue) in _SCHEDULED.items()
    }
    reconcile = scheduled.pop(ScheduledJob.RECONCILE)
    # Data may have been lost while the platform was down.
    reconcile.owed = due[ScheduledJob.RECONCILE].rest(now()) is not None
    extract = Tick(EXTRACT, EXTRACT_QUEUE, settings.redis.poll_seconds, EXPIRES_SECONDS)
    return [
        Tick(INDEX, INGEST_QUEUE, settings.redis.poll_seconds, EXPIRES_SECONDS),
        *([extract] if settings.llm.enabled else []),
        reconcile,
        Tick(WATCH, SLEEP_QUEUE, poll_seconds, EXPIRES_SECONDS),
        *([Tick(CATCH_UP, SLEEP_QUEUE, poll_seconds, EXPIRES_SECONDS)] if settings.consolidation.interactions else []),
        *([] if settings.sleep.paused else scheduled.values()),
        *([Tick(MIRROR, SLEEP_QUEUE, settings.mirror.poll_seconds, EXPIRES_SECONDS)] if settings.mirror.path else []),
    ]


def send_due(app: Celery, client: redis.Redis, schedule: Sequence[Tick]) -> None:
    """Send the due messages, but none to a queue that still has one: its workers may all be down."""
    for tick in schedule:
        instant = time.monotonic()
        if not tick.is_due(instant):
            continue
        pause = POLL_SECONDS
        try:
            if waiting(client, tick.queue):
                pause = min(tick.seconds, _MAX_DELAY_SECONDS)  # it may be a message for another task
            elif send(app, tick.task, expires=tick.expires):
                pause, tick.owed = tick.seconds, False
        except RedisError as error:
            SEND_FAILURES.inc()
            _log.warning("Redis does not answer", error=str(error))
        tick.due = instant + pause
