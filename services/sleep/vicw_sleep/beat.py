"""``python -m vicw_sleep.beat``: the platform's clock. Any number may be started; one at a time sends.

Whoever has the lock in Redis sends; the others wait for it. Its holder renews it, and ends when it cannot: then
two clocks might tick, and whatever supervises it starts it again.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from datetime import timedelta
from functools import partial
from pathlib import Path

import redis
import structlog
from celery import Celery
from celery.beat import Scheduler
from prometheus_client import Gauge
from redis.exceptions import LockError, RedisError

from vicw_shared import exits
from vicw_shared.adapters.celery_queue import (
    INDEX,
    INGEST_QUEUE,
    RECONCILE,
    SEND_FAILURES,
    SLEEP_QUEUE,
    broker_url,
    make_celery,
)
from vicw_shared.alive import touch
from vicw_shared.errors import VicwError
from vicw_shared.logs import configure_logs
from vicw_shared.telemetry.serving import serve_metrics
from vicw_sleep.settings import Settings

LOCK = "vicw:beat"
_LEASE_SECONDS = 20.0
_log = structlog.get_logger()
TICKING = Gauge("vicw_beat_ticking", "1 for the clock that sends, 0 for one that stands by")
MESSAGES = Gauge("vicw_queue_messages", "Messages that wait for a worker; not a number while Redis is away", ["queue"])


def schedule(settings: Settings) -> dict[str, dict[str, object]]:
    """Return what is sent when. A wake-up that nobody took within its period says nothing new."""
    look, hours = settings.redis.look_seconds, settings.sleep.reconcile_hours
    return {
        "index": {"task": INDEX, "schedule": timedelta(seconds=look), "options": {"expires": look}},
        "reconcile": {
            "task": RECONCILE,
            "schedule": timedelta(hours=hours),
            "options": {"expires": hours * 3600},
        },
    }


def main() -> int:
    """Tick until SIGTERM or SIGINT; return the exit code."""
    try:
        settings = Settings.read()
        serve_metrics(settings.metrics)
    except VicwError as error:
        print(f"error: {error.detail}", file=sys.stderr)
        return exits.FATAL
    configure_logs(settings.log)
    app = make_celery("vicw_beat", settings.redis)
    app.conf.beat_schedule = schedule(settings)
    client = redis.Redis.from_url(broker_url(settings.redis), socket_timeout=5, socket_connect_timeout=5)
    for queue in (INGEST_QUEUE, SLEEP_QUEUE):
        MESSAGES.labels(queue).set_function(partial(_waiting, client, queue))
    lock = client.lock(LOCK, timeout=_LEASE_SECONDS, thread_local=False)
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    _log.info("beat waits for its lock")
    try:
        while not lock.acquire(blocking_timeout=1):
            touch(settings.worker.alive_file)
            if ended.is_set():
                return 0
    except RedisError as error:
        _log.error("Redis does not answer", error=str(error))
        return exits.LATER
    TICKING.set(1)
    _log.info("beat ticks", schedule=sorted(app.conf.beat_schedule))
    threading.Thread(target=_keep, args=(lock, ended), daemon=True).start()
    _tick(app, ended, settings.worker.alive_file)
    _release(lock)
    return 0


def _tick(app: Celery, ended: threading.Event, alive_file: Path | None) -> None:
    # Celery's own service would keep in a file when it sent what last: nothing here is missed that comes again.
    scheduler = Scheduler(app=app, lazy=False)
    started = False
    while not ended.is_set():
        touch(alive_file)
        try:
            if not started:  # else a clock that is started more often than its longest period would never send it
                app.send_task(RECONCILE)
                started = True
            pause = scheduler.tick()
        except Exception as error:  # the broker may be away; the schedule goes on when it is back
            SEND_FAILURES.inc()
            _log.warning("a wake-up could not be sent", error=str(error))
            pause = 1.0
        ended.wait(min(pause or 0.1, 1.0))


def _waiting(client: redis.Redis, queue: str) -> float:
    """Return the length of a queue, which Celery keeps as a list of its name."""
    try:
        return client.llen(queue)
    except RedisError:
        return float("nan")


def _keep(lock: redis.lock.Lock, ended: threading.Event) -> None:
    while not ended.wait(_LEASE_SECONDS / 4):
        try:
            lock.extend(_LEASE_SECONDS, replace_ttl=True)
        except (LockError, RedisError) as error:
            _log.error("the lock is lost; another clock may tick", error=str(error))
            os._exit(exits.LATER)


def _release(lock: redis.lock.Lock) -> None:
    try:
        lock.release()
    except (LockError, RedisError):
        _log.info("the lock will run out by itself")


if __name__ == "__main__":
    sys.exit(main())
