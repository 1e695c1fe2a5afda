"""``kill -9`` of the server and of its embedding child at any moment: nothing acknowledged is lost or doubled."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import batched
from operator import eq
from pathlib import Path

import httpx
import pytest

from support.clients.writer import Ledger, Writer
from support.processes.server import START_SECONDS, Server, count_nodes, eventually, require_clean, temporary_directory

pytestmark = [pytest.mark.process, pytest.mark.crash, pytest.mark.timeout(1800)]

KILLS = int(os.environ.get("VICW_TEST_KILLS", "24"))
SITES = 2
"""Servers that are killed side by side, each with a store of its own: a start keeps one core busy."""
_KINDS = ("fresh", "fresh", "late", "keyed", "updates")
_DURING_START = 0.2
TOKENS_PER_QUESTION = 50


class Site:
    """A server, the clients that write to it, and what they know to be stored."""

    def __init__(self, directory: Path, models_dir: Path, seed: int) -> None:
        self.server = Server(directory / f"site{seed}" / "data", models_dir)
        self.server.data_dir.parent.mkdir()
        self.ledger = Ledger()
        self.writers = [Writer(kind, n, self.ledger, lambda: self.server.url) for n, kind in enumerate(_KINDS)]
        self.killed = Counter[str]()
        self._random = random.Random(seed)

    def suffer(self, kills: int) -> None:
        """Write while the server is killed ``kills`` times, and its child at least as often; then look."""
        try:
            self.server.start()
            for writer in self.writers:
                writer.start()
            while min(self.killed["server"], self.killed["embedder"]) < kills:  # a kill during start has no child
                self._live_and_die()
            for writer in self.writers:
                writer.finish(60)
            self._require_all()
            assert self.server.stop() == 0
            require_clean(self.server)
        finally:
            for writer in self.writers:
                writer.halt.set()
            self.server.kill()

    def _live_and_die(self) -> None:
        acknowledged = self.ledger.acknowledged
        eventually(lambda: self.ledger.acknowledged, lambda n: n > acknowledged, START_SECONDS, "an acknowledgement")
        end = time.monotonic() + self._random.uniform(0.05, 2)
        while time.monotonic() < end or self.killed["embedder"] <= self.killed["server"]:
            time.sleep(self._random.uniform(0.02, 0.5))
            if self.killed["embedder"] <= self.killed["server"]:
                self._kill_embedder()
            assert time.monotonic() < end + 30, "the embedding process does not come back"
        self._kill_server()
        while self._random.random() < _DURING_START:
            self.server.launch()
            time.sleep(self._random.uniform(0, 5))
            self._kill_server()
        self.server.start()

    def _kill_server(self) -> None:
        self.server.kill()
        self.killed["server"] += 1

    def _kill_embedder(self) -> None:
        child = self.server.embedder()
        if child is not None:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
                self.killed["embedder"] += 1

    def _require_all(self) -> None:
        alive = self.ledger.alive
        with httpx.Client(base_url=self.server.url, timeout=60, trust_env=False) as http:
            for tokens in batched([*alive, *self.ledger.replaced], TOKENS_PER_QUESTION):
                wanted = {token: 1 if token in alive else 0 for token in tokens}
                eventually(partial(count_results_by_token, http, tokens), partial(eq, wanted), 120, "every item, once")
            for token, item in random.Random(0).sample(sorted(alive.items()), 20):
                # By its whole text: the model tells words like these apart too badly to find one among a thousand.
                body = {"query": self.ledger.texts[token], "channels": ["dense"], "expand": {"hops": 0}}
                results = http.post("/retrieve", json=body).raise_for_status().json()["results"]
                assert any(token in result["text"] and result["id"] == item for result in results), token
        assert count_nodes(self.server, "content_hash IS NOT NULL AND retired_at IS NULL") == len(alive)


def count_results_by_token(http: httpx.Client, tokens: tuple[str, ...]) -> dict[str, int]:
    """Return how many results hold each token."""
    body = {
        "query": " ".join(tokens),
        "context": "shared",
        "channels": ["bm25"],
        "limit": 200,
        "expand": {"hops": 0},
        "budget": {"chars": 1},
    }
    results = http.post("/retrieve", json=body).raise_for_status().json()["results"]
    words = Counter(word for result in results for word in result["text"].split())
    return {token: words[token] for token in tokens}


def test_acknowledged_items_survive_repeated_kills_without_duplicates(models_dir: Path) -> None:
    with temporary_directory() as directory, ThreadPoolExecutor(SITES) as pool:
        sites = [Site(directory, models_dir, seed) for seed in range(SITES)]
        ends = [pool.submit(site.suffer, -(-KILLS // SITES)) for site in sites]
        for end in ends:
            end.result()
    killed = sum((site.killed for site in sites), Counter[str]())
    written = sum(len(site.ledger.alive) for site in sites)
    retried = sum(site.ledger.retried for site in sites)
    print(f"\n{killed['server']} servers and {killed['embedder']} embedders killed, {written} items, {retried} retries")
    assert killed["server"] >= KILLS
    assert killed["embedder"] >= KILLS
    assert retried > KILLS, "the kills hardly met a request"
