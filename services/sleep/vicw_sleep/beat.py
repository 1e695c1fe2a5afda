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

from vicw_shared import exits
from vicw_shared.adapters.celery_queue import (
    CATCH_UP,
    CONSOLIDATE,
    DREAM,
    EXPIRES_SECONDS,
    EXTRACT,
    EXTRACT_QUEUE,
    FORGET,
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
from vicw_shared.clock import now
from vicw_shared.errors import VicwError
from vicw_shared.liveness import touch
from vicw_shared.logs import configure_logs
from vicw_shared.telemetry.serving import serve_metrics
from vicw_sleep.jobs import ScheduledJob, schedules
from vicw_sleep.schedule import Schedule
from vicw_sleep.settings import SleepServiceSettings

LOCK = "vicw:beat"
_LEASE_SECONDS = 20.0
_RENEW_SECONDS = 5.0
_TRY_AGAIN_SECONDS = 0.5
_CALL_SECONDS = 2.0
_LOOK_SECONDS = 1.0
_MOST_PUT_OFF_SECONDS = 60.0
_NIGHTLY = {
    ScheduledJob.CONSOLIDATION: (CONSOLIDATE, SLEEP_QUEUE),
    ScheduledJob.DREAM: (DREAM, SLEEP_QUEUE),
    ScheduledJob.RESOLVE: (RESOLVE, SLEEP_QUEUE),
    ScheduledJob.FORGETTING: (FORGET, INGEST_QUEUE),
    ScheduledJob.RECONCILE: (RECONCILE, SLEEP_QUEUE),
}
"""Message and queue of each scheduled job."""
_log = structlog.get_logger()
TICKING = Gauge("vicw_beat_ticking", "1 for the clock that sends, 0 for one that stands by")
MESSAGES = Gauge("vicw_queue_messages", "Messages that wait for a worker; not a number while Redis is away", ["queue"])


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
    look = settings.sleep.poll_seconds
    due = schedules(settings, now())
    nightly = {
        what: Tick(task, queue, _MOST_PUT_OFF_SECONDS, EXPIRES_SECONDS, schedule=due[what])
        for what, (task, queue) in _NIGHTLY.items()
    }
    comparing = nightly.pop(ScheduledJob.RECONCILE)
    comparing.owed = (
        due[ScheduledJob.RECONCILE].rest(now()) is not None
    )  # data may have been lost while the platform was down
    extract = Tick(EXTRACT, EXTRACT_QUEUE, settings.redis.poll_seconds, EXPIRES_SECONDS)
    return [
        Tick(INDEX, INGEST_QUEUE, settings.redis.poll_seconds, EXPIRES_SECONDS),
        *([extract] if settings.llm.enabled else []),
        comparing,
        Tick(WATCH, SLEEP_QUEUE, look, EXPIRES_SECONDS),
        *([Tick(CATCH_UP, SLEEP_QUEUE, look, EXPIRES_SECONDS)] if settings.consolidation.interactions else []),
        *([] if settings.sleep.paused else nightly.values()),
        *([Tick(MIRROR, SLEEP_QUEUE, settings.mirror.poll_seconds, EXPIRES_SECONDS)] if settings.mirror.path else []),
    ]


def main() -> int:
    """Tick until SIGTERM or SIGINT; return the exit code."""
    try:
        settings = SleepServiceSettings.read()
        serve_metrics(settings.metrics)
    except VicwError as error:
        print(f"error: {error.detail}", file=sys.stderr)
        return exits.FATAL
    configure_logs(settings.log)
    app = make_celery("vicw_beat", settings.redis)
    client = connect(settings.redis, at_most=_CALL_SECONDS)
    try:
        schedule = ticks(settings)
    except VicwError as error:
        print(f"error: {error.detail}", file=sys.stderr)
        return exits.FATAL
    for queue in {tick.queue for tick in schedule}:
        MESSAGES.labels(queue).set_function(partial(_waiting, client, queue))
    lock = client.lock(LOCK, timeout=_LEASE_SECONDS, thread_local=False)
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    _log.info("beat waits for its lock")
    try:
        until = _acquire(lock, ended, settings.worker.liveness_file)
    except RedisError as error:
        _log.error("Redis does not answer", error=str(error))
        return exits.LATER
    if until is None:
        return 0
    TICKING.set(1)
    _log.info("beat ticks", every_seconds={tick.task: tick.seconds for tick in schedule})
    threading.Thread(target=_keep, args=(lock, ended, until), daemon=True).start()
    while not ended.is_set():
        touch(settings.worker.liveness_file)
        send_due(app, client, schedule)
        ended.wait(_LOOK_SECONDS)
    _release(lock)
    return 0


def _acquire(lock: redis.lock.Lock, ended: threading.Event, alive_file: Path | None) -> float | None:
    """Wait for the lock; return when our lease expires, None after a stop signal. Raises RedisError if Redis stays
    away.
    """
    answered = time.monotonic()
    while not ended.is_set():
        asked = time.monotonic()
        try:
            if lock.acquire(blocking_timeout=1):
                return asked + _LEASE_SECONDS
        except RedisError:
            if asked > answered + _LEASE_SECONDS:
                raise
            ended.wait(_TRY_AGAIN_SECONDS)
        else:
            answered = asked
            touch(alive_file)
    return None


def send_due(app: Celery, client: redis.Redis, schedule: Sequence[Tick]) -> None:
    """Send the due messages, except where one still waits in the queue: no worker may be running."""
    for tick in schedule:
        instant = time.monotonic()
        if not tick.is_due(instant):
            continue
        pause = _LOOK_SECONDS
        try:
            if waiting(client, tick.queue):
                pause = min(tick.seconds, _MOST_PUT_OFF_SECONDS)  # it may be a message for another task
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


def _keep(lock: redis.lock.Lock, ended: threading.Event, until: float) -> None:
    """Renew the lock, which we hold ``until`` then; end the process before another one may acquire it."""
    pause = _RENEW_SECONDS
    while not ended.wait(pause):
        asked = time.monotonic()
        try:
            lock.extend(_LEASE_SECONDS, replace_ttl=True)
            until, pause = asked + _LEASE_SECONDS, _RENEW_SECONDS
        except LockError as error:
            _end(error)
        except RedisError as error:
            pause = _TRY_AGAIN_SECONDS
            if time.monotonic() + pause + 2 * _CALL_SECONDS > until:  # one that connects first takes two calls
                _end(error)
            _log.warning("the lock could not be renewed, will be tried again", error=str(error))


def _end(error: Exception) -> NoReturn:
    _log.error("the lock is lost; another clock may tick", error=str(error))
    os._exit(exits.LATER)


def _release(lock: redis.lock.Lock) -> None:
    try:
        lock.release()
    except (LockError, RedisError):
        _log.info("the lock expires on its own")


if __name__ == "__main__":
    sys.exit(main())
