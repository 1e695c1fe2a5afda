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
from functools import partial
from pathlib import Path
from typing import NoReturn

import redis
import structlog
from prometheus_client import Gauge
from redis.exceptions import LockError, RedisError

from vicw_runtime import exit_codes
from vicw_runtime.liveness import touch
from vicw_runtime.logs import configure_logs
from vicw_runtime.queue.celery_queue import connect, make_celery, waiting
from vicw_runtime.telemetry.serving import serve_metrics
from vicw_shared.errors import VicwError
from vicw_sleep.schedule.ticks import POLL_SECONDS, send_due, ticks
from vicw_sleep.settings import SleepServiceSettings

LOCK = "vicw:beat"
_LEASE_SECONDS = 20.0
_RENEW_SECONDS = 5.0
_RETRY_SECONDS = 0.5
_CALL_TIMEOUT_SECONDS = 2.0
_log = structlog.get_logger()
TICKING = Gauge("vicw_beat_ticking", "1 for the clock that sends, 0 for a standby")
MESSAGES = Gauge(
    "vicw_queue_messages", "Messages that wait for a worker; not a number while Redis is unavailable", ["queue"]
)


def main() -> int:
    """Tick until SIGTERM or SIGINT; return the exit code."""
    try:
        settings = SleepServiceSettings.read()
        serve_metrics(settings.metrics, settings.server)
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
        stopping.wait(POLL_SECONDS)
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
