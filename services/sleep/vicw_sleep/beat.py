"""``python -m vicw_sleep.beat``: the platform's clock. Any number may be started; one at a time sends.

The holder of a lock in Redis sends; the others wait for the lock. The holder renews it and retries while it is valid.
It exits when the lock is lost, since two clocks might tick then; its supervisor restarts it.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NoReturn

import redis
import structlog
from celery import Celery
from prometheus_client import Gauge
from redis.exceptions import LockError, RedisError

from vicw_runtime import exit_codes
from vicw_runtime.liveness import touch
from vicw_runtime.logs import configure_logs
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
    connect,
    make_celery,
    send,
    waiting,
)
from vicw_runtime.telemetry.serving import serve_metrics
from vicw_shared.clock import now
from vicw_shared.errors import VicwError
from vicw_sleep.schedule.cron import Schedule
from vicw_sleep.schedule.jobs import ScheduledJob, schedules
from vicw_sleep.settings import SleepServiceSettings

LOCK = "vicw:beat"
_LEASE_SECONDS = 20.0
_RENEW_SECONDS = 5.0
_RETRY_SECONDS = 0.5
_CALL_TIMEOUT_SECONDS = 2.0
_POLL_SECONDS = 1.0
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
TICKING = Gauge("vicw_beat_ticking", "1 for the clock that sends, 0 for a standby")
MESSAGES = Gauge(
    "vicw_queue_messages", "Messages that wait for a worker; not a number while Redis is unavailable", ["queue"]
)


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


def main() -> int:
    """Tick until SIGTERM or SIGINT; return the exit code."""
    try:
        settings = SleepServiceSettings.read()
        serve_metrics(settings.metrics)
    except VicwError as error:
        print(f"error: {error.detail}", file=sys.stderr)
        return exit_codes.FATAL
    configure_logs(settings.log)
    app = make_celery("vicw_beat", settings.redis)
    client = connect(settings.redis, at_most=_CALL_TIMEOUT_SECONDS)
    try:
        schedule = ticks(settings)
    except VicwError as error:
        print(f"error: {error.detail}", file=sys.stderr)
        return exit_codes.FATAL
    for queue in {tick.queue for tick in schedule}:
        MESSAGES.labels(queue).set_function(partial(_waiting, client, queue))
    lock = client.lock(LOCK, timeout=_LEASE_SECONDS, thread_local=False)
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    _log.info("beat waits for its lock")
    try:
        expires_at = _acquire(lock, stopping, settings.worker.liveness_file)
    except RedisError as error:
        _log.error("Redis does not answer", error=str(error))
        return exit_codes.LATER
    if expires_at is None:
        return 0
    TICKING.set(1)
    _log.info("beat ticks", every_seconds={tick.task: tick.seconds for tick in schedule})
    threading.Thread(target=_renew_lock, args=(lock, stopping, expires_at), daemon=True).start()
    while not stopping.is_set():
        touch(settings.worker.liveness_file)
        send_due(app, client, schedule)
        stopping.wait(_POLL_SECONDS)
    _release(lock)
    return 0


def _acquire(lock: redis.lock.Lock, stopping: threading.Event, liveness_file: Path | None) -> float | None:
    """Wait for the lock. Return when the lease expires (monotonic), or None after a stop signal.

    Raises RedisError if Redis does not answer.
    """
    last_reply = time.monotonic()
    while not stopping.is_set():
        started = time.monotonic()
        try:
            if lock.acquire(blocking_timeout=1):
                return started + _LEASE_SECONDS
        except RedisError:
            if started > last_reply + _LEASE_SECONDS:
                raise
            stopping.wait(_RETRY_SECONDS)
        else:
            last_reply = started
            touch(liveness_file)
    return None


def send_due(app: Celery, client: redis.Redis, schedule: Sequence[Tick]) -> None:
    """Send the due messages, but none to a queue that still has one: its workers may all be down."""
    for tick in schedule:
        instant = time.monotonic()
        if not tick.is_due(instant):
            continue
        pause = _POLL_SECONDS
        try:
            if waiting(client, tick.queue):
                pause = min(tick.seconds, _MAX_DELAY_SECONDS)  # it may be a message for another task
            elif send(app, tick.task, expires=tick.expires):
                pause, tick.owed = tick.seconds, False
        except RedisError as error:
            SEND_FAILURES.inc()
            _log.warning("Redis does not answer", error=str(error))
        tick.due = instant + pause


def _waiting(client: redis.Redis, queue: str) -> float:
    try:
        return waiting(client, queue)
    except RedisError:
        return float("nan")


def _renew_lock(lock: redis.lock.Lock, stopping: threading.Event, expires_at: float) -> None:
    """Renew the lock, whose lease ends at ``expires_at``; exit before another process can acquire it."""
    pause = _RENEW_SECONDS
    while not stopping.wait(pause):
        started = time.monotonic()
        try:
            lock.extend(_LEASE_SECONDS, replace_ttl=True)
            expires_at, pause = started + _LEASE_SECONDS, _RENEW_SECONDS
        except LockError as error:
            _exit_without_lock(error)
        except RedisError as error:
            pause = _RETRY_SECONDS
            if time.monotonic() + pause + 2 * _CALL_TIMEOUT_SECONDS > expires_at:  # connecting first takes two calls
                _exit_without_lock(error)
            _log.warning("the lock could not be renewed; it is tried again", error=str(error))


def _exit_without_lock(error: Exception) -> NoReturn:
    _log.error("the lock is lost; another clock may tick", error=str(error))
    os._exit(exit_codes.LATER)


def _release(lock: redis.lock.Lock) -> None:
    try:
        lock.release()
    except (LockError, RedisError):
        _log.info("the lock expires on its own")


if __name__ == "__main__":
    sys.exit(main())
