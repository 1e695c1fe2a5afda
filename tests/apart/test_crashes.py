"""``kill -9`` of any service or engine while clients write: nothing acknowledged is lost or doubled."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import batched
from typing import Any

import pytest

from apart.conftest import Engines
from support.clients.writer import Ledger, Writer
from support.processes.platform import Platform
from support.processes.server import eventually
from support.servers.process import ServerProcess
from vicw_runtime.queue.celery_queue import RECONCILE, make_celery
from vicw_shared.settings import RedisSettings

pytestmark = [pytest.mark.process, pytest.mark.crash, pytest.mark.timeout(1800)]

KILLS = int(os.environ.get("VICW_TEST_KILLS", "20"))
_KINDS = ("fresh", "fresh", "late", "keyed", "updates")
TOKENS_PER_QUESTION = 40
_AT_ONCE, _ITEMS = 400, 40
_DONE_SECONDS = 180


def test_acknowledged_items_survive_repeated_kills_without_duplicates(fragile: Platform, engines: Engines) -> None:
    worker, beat, sleeper = fragile.worker().start(), fragile.beat().start(), fragile.sleeper().start()
    victims: dict[str, Callable[[], object]] = {
        service.name: lambda service=service: (service.kill(), service.start())  # type: ignore[misc]
        for service in (fragile.ingest, fragile.embedding, worker)
    }
    victims |= {"redis": engines.redis.restart, "neo4j": engines.neo4j.restart, "qdrant": engines.qdrant.restart}
    ledger, killed, chance = Ledger(), Counter[str](), random.Random(4)
    writers = [Writer(kind, n, ledger, lambda: fragile.ingest.url, fragile.headers) for n, kind in enumerate(_KINDS)]
    for writer in writers:
        writer.start()
    for number in range(KILLS):
        acknowledged = ledger.acknowledged
        eventually(lambda: ledger.acknowledged, lambda n, a=acknowledged: n > a, 90, "an acknowledgement")  # type: ignore[misc]
        time.sleep(chance.uniform(0.05, 1.5))
        name = [*victims][number % len(victims)]
        victims[name]()
        killed[name] += 1
        if not beat.running():  # it ends when it loses its lock with Redis; its supervisor starts it again
            beat.start()
    for writer in writers:
        writer.finish(90)

    app = make_celery("test", RedisSettings(url=engines.redis.server.database(1)))
    app.send_task(RECONCILE)
    app.close()
    for tokens in batched([*ledger.alive, *ledger.replaced], TOKENS_PER_QUESTION):
        wanted = {token: int(token in ledger.alive) for token in tokens}
        eventually(lambda t=tokens: found(fragile, t), lambda f, w=wanted: f == w, _DONE_SECONDS, "every item, once")  # type: ignore[misc]
    eventually(lambda: "all=True" in sleeper.log or '"all": true' in sleeper.log, bool, 60, "a whole comparison")
    eventually(lambda: fragile.vicw("check", "--platform").stdout, lambda said: ", 0 waiting" in said, 120, "all done")
    checked = fragile.vicw("check", "--platform")
    assert (checked.returncode, checked.stdout.splitlines()[-1]) == (0, "clean"), checked.stdout + checked.stderr
    print(f"\nkilled {dict(killed)}, {len(ledger.alive)} items, {ledger.retried} retries")
    assert sum(killed.values()) == KILLS


def test_acknowledged_items_survive_a_kill_of_all_services_and_engines(fragile: Platform, engines: Engines) -> None:
    """Right after the last 202: nothing is left but what each of them has written to its disk."""
    services = [fragile.embedding, fragile.ingest, fragile.retrieval, fragile.worker().start(), fragile.beat().start()]
    processes: list[ServerProcess[Any]] = [engines.redis, engines.neo4j, engines.qdrant]
    tokens, jobs = [f"zq{number:03}xv" for number in range(_AT_ONCE)], []
    for part in batched(tokens, _ITEMS):
        items = [{"id": token, "text": f"Word {token} was stored before the lights went out."} for token in part]
        answer = fragile.remember(*items, context="shared", flow_id="f", wait=False)
        assert answer.status_code == 202
        jobs.append(answer.json()["job"])
    with ThreadPoolExecutor(len(services) + len(processes)) as pool:
        kills = [service.kill for service in services] + [process.kill for process in processes]
        for ended in [pool.submit(kill) for kill in kills]:
            ended.result()
    assert not any(service.running() for service in services)

    with ThreadPoolExecutor(len(processes)) as pool:
        for started in [pool.submit(process.restart) for process in processes]:
            started.result()
    for service in services:
        service.start()
    for job in jobs:
        eventually(lambda j=job: fragile.job(j)["status"], lambda status: status == "done", _DONE_SECONDS, "the job")  # type: ignore[misc]
    for part in batched(tokens, TOKENS_PER_QUESTION):
        every = dict.fromkeys(part, 1)
        eventually(lambda p=part: found(fragile, p), lambda f, e=every: f == e, _DONE_SECONDS, "every item, once")  # type: ignore[misc]
    checked = fragile.vicw("check", "--platform")
    assert (checked.returncode, checked.stdout.splitlines()[-1]) == (0, "clean"), checked.stdout + checked.stderr
    assert f"{2 * len(tokens)} points, 0 waiting" in checked.stdout, "each passage and its one statement"


def found(platform: Platform, tokens: tuple[str, ...]) -> dict[str, int]:
    """Return how many results hold each token."""
    answer = platform.ask(
        " ".join(tokens), context="shared", channels=["bm25"], limit=200, expand={"hops": 0}, budget={"chars": 1}
    )
    results = answer.json().get("results", ()) if answer.is_success else ()
    words = Counter(word for result in results for word in result["text"].split())
    return {token: words[token] for token in tokens}
