"""``kill -9`` of the sleep worker at work, with writes and questions going on: nobody notices."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from itertools import batched
from pathlib import Path

import pytest

from apart.test_crashes import TOKENS_PER_QUESTION, found
from support.clients.reader import Reader
from support.clients.thread import Client
from support.clients.writer import Ledger, Writer
from support.processes.platform import Platform, Service, send, send_anew
from support.processes.server import eventually
from support.servers.redis import RedisServer
from support.stories.week import NIGHTLY
from vicw_runtime.queue.celery_queue import CONSOLIDATE, DREAM, MIRROR, RECONCILE

pytestmark = [pytest.mark.process, pytest.mark.crash, pytest.mark.timeout(7200)]

KILLS = int(os.environ.get("VICW_TEST_KILLS", "6"))
_KINDS = ("fresh", "late", "keyed", "updates")
_SAYS = {CONSOLIDATE: "consolidated", DREAM: "dreamt", MIRROR: "the mirror is up to date"}
"""What the sleep worker logs at the end of a turn. Then the next one begins, as long as there is something to do."""
_NIGHT_SECONDS = 420
_SEND_SECONDS = 2.0
_LONGEST_SECONDS = 5.0
_DONE_SECONDS = 180
_SLOWLY = {"VICW_CONSOLIDATE_BATCHES": "2", "VICW_DREAM_ITEMS": "20", "VICW_SLEEP_REST_FACTOR": "0"}
"""A night of many turns, so that it lasts, in which much happens at once."""


def wait_for_slice(redis: RedisServer, sleeper: Service, task: str, slept: int) -> None:
    """Return when the sleep worker logs a slice behind ``slept`` characters; all may be consolidated before."""
    sent = time.monotonic()

    def told() -> bool:
        nonlocal sent
        if time.monotonic() - sent > _SEND_SECONDS:
            send(redis, task)
            sent = time.monotonic()
        return _SAYS[task] in sleeper.log[slept:]

    eventually(told, bool, _NIGHT_SECONDS, _SAYS[task])


def test_writes_and_questions_succeed_while_the_sleep_worker_is_killed(
    platform: Platform, redis_server: RedisServer, tmp_path: Path
) -> None:
    platform.variables["VICW_MIRROR_PATH"] = str(tmp_path / "mirror")
    platform.worker().start()
    sleeper = platform.sleeper(**NIGHTLY, **_SLOWLY)
    ledger, caught, chance = Ledger(), Counter[str](), random.Random(7)
    writers = [Writer(kind, n, ledger, lambda: platform.ingest.url, platform.headers) for n, kind in enumerate(_KINDS)]
    asker = Reader(7, ledger, lambda: platform.retrieval.url, platform.headers)
    clients: list[Client] = [*writers, asker]
    try:
        for client in clients:
            client.start()
        for number in range(KILLS):
            task, slept = chance.choice([CONSOLIDATE, CONSOLIDATE, DREAM, MIRROR]), len(sleeper.log)
            send_anew(redis_server, task)
            sleeper.start()
            if chance.random() < 0.7:  # in a later turn, else in the first
                wait_for_slice(redis_server, sleeper, task, slept)
            time.sleep(chance.uniform(0, _LONGEST_SECONDS))
            sleeper.kill()
            caught[task] += 1
            failures = [client.failure for client in clients if client.failure is not None]
            assert not failures, f"after {number + 1} kills: {failures}"
        for client in clients:
            client.finish(90)
    finally:
        for client in clients:
            client.halt.set()

    sleeper.start()
    for task in (RECONCILE, CONSOLIDATE, DREAM, MIRROR):
        send_anew(redis_server, task)
    for tokens in batched([*ledger.alive, *ledger.replaced], TOKENS_PER_QUESTION):
        wanted = {token: int(token in ledger.alive) for token in tokens}
        eventually(lambda t=tokens: found(platform, t), lambda f, w=wanted: f == w, _DONE_SECONDS, "every item, once")  # type: ignore[misc]
    asker.require_all()
    checked = eventually(
        lambda: platform.vicw("check", "--platform"), lambda c: ", 0 waiting" in c.stdout, _DONE_SECONDS, "all done"
    )
    assert (checked.returncode, checked.stdout.splitlines()[-1]) == (0, "clean"), checked.stdout + checked.stderr
    macros = platform.vicw("sleep", "log", "--platform", "--limit", "100000").stdout.count("done     consolidate")
    print(
        f"\nkilled at {dict(caught)}: {macros} Macro-Events stand, {len(ledger.alive)} items, {asker.answers} answers"
    )
    assert macros > KILLS / 4, "hardly a night did anything"
    assert asker.answers > len(ledger.alive) / 10, "hardly anything was asked"
