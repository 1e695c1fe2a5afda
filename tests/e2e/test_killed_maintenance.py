"""``kill -9`` of a server that sleeps, with writes and questions going on: nobody notices but by the pause."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import batched
from operator import eq
from pathlib import Path

import httpx
import pytest

from e2e.test_crashes import TOKENS_PER_QUESTION, count_results_by_token
from support.clients.reader import Reader
from support.clients.thread import Client
from support.clients.writer import Ledger, Writer
from support.processes.server import Server, eventually, require_clean, run, temporary_directory
from support.stories.week import NIGHTLY

pytestmark = [pytest.mark.process, pytest.mark.crash, pytest.mark.timeout(7200)]

KILLS = int(os.environ.get("VICW_TEST_KILLS", "2"))
SITES = min(KILLS, 4)
"""Servers side by side, each with a store of its own: they wait most of the time, for a minute to begin."""
_KINDS = ("fresh", "late", "keyed", "updates")
_NIGHT_SECONDS = 420
_LONGEST_SECONDS = 8.0
_SLOWLY = {
    "VICW_CONSOLIDATE_BATCHES": "2",
    "VICW_DREAM_ITEMS": "20",
    "VICW_MIRROR_POLL_SECONDS": "5",
    "VICW_SLEEP_REST_FACTOR": "1",
}
"""A night of many turns, so that it lasts, in which much happens although somebody asks all the time."""


class Site:
    """A server that sleeps every minute, who writes to it and who asks it."""

    def __init__(self, directory: Path, models_dir: Path, seed: int) -> None:
        home = directory / f"site{seed}"
        home.mkdir()
        self.mirror = home / "mirror"
        self.server = Server(home / "data", models_dir, **NIGHTLY, **_SLOWLY, VICW_MIRROR_PATH=str(self.mirror))
        self.ledger = Ledger()
        self.writers = [Writer(kind, n, self.ledger, lambda: self.server.url) for n, kind in enumerate(_KINDS)]
        self.asker = Reader(seed, self.ledger, lambda: self.server.url)
        self.caught = Counter[str]()
        self.consolidated = 0
        self._random = random.Random(seed)

    def suffer(self, kills: int) -> None:
        """Write and ask while the server is killed in ``kills`` of its nights; then look."""
        clients: list[Client] = [*self.writers, self.asker]
        try:
            self.server.start()
            for client in clients:
                client.start()
            for _ in range(kills):
                self._sleep_and_die()
            for client in clients:
                client.finish(60)
            self._require_all()
            assert self.server.stop() == 0
            require_clean(self.server)
            assert run(self.server, "mirror", "sync").returncode == 0
            self.consolidated = run(self.server, "sleep", "log", "--limit", "100000").stdout.count(
                "done     consolidate"
            )
        finally:
            for client in clients:
                client.halt.set()
            self.server.kill()

    def _sleep_and_die(self) -> None:
        slept = len(self.server.log)
        night = self._random.choice(("consolidated", "dreamt"))
        eventually(lambda: night in self.server.log[slept:], bool, _NIGHT_SECONDS, f"a night in which it {night}")
        time.sleep(self._random.uniform(0, _LONGEST_SECONDS))
        self.server.kill()
        self.caught[night] += 1
        clients: list[Client] = [*self.writers, self.asker]
        for client in clients:
            if client.failure is not None:
                raise client.failure
        self.server.start()

    def _require_all(self) -> None:
        alive = self.ledger.alive
        with httpx.Client(base_url=self.server.url, timeout=60, trust_env=False) as http:
            for tokens in batched([*alive, *self.ledger.replaced], TOKENS_PER_QUESTION):
                wanted = {token: int(token in alive) for token in tokens}
                eventually(partial(count_results_by_token, http, tokens), partial(eq, wanted), 120, "every item, once")
        self.asker.require_all()


def test_writers_and_readers_lose_nothing_by_kills_during_maintenance(models_dir: Path) -> None:
    with temporary_directory() as directory, ThreadPoolExecutor(SITES) as pool:
        sites = [Site(directory, models_dir, seed) for seed in range(SITES)]
        for ended in [pool.submit(site.suffer, -(-KILLS // SITES)) for site in sites]:
            ended.result()
    caught = sum((site.caught for site in sites), Counter[str]())
    written, asked = sum(len(site.ledger.alive) for site in sites), sum(site.asker.answers for site in sites)
    macros = sum(site.consolidated for site in sites)
    print(f"\nkilled where it {dict(caught)}: {macros} Macro-Events stand, {written} items, {asked} answers")
    assert caught.total() >= KILLS
    assert macros, "nothing was consolidated"
    assert asked > written / 10, "hardly anything was asked"
