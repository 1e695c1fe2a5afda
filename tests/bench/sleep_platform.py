"""``python tests/bench/sleep_platform.py [--messages N]``: how much a night of the separate services slows answers.

Servers come from where the tests take them, Neo4j with the memory that docker-compose.yml gives it by default. Stores
messages through ``/ingest`` and the real model, lets half of them have their night, then asks the same number of
questions by one client: at rest, and while the sleep worker consolidates, dreams and resolves the other half. Prints
both, their ratio, and the most memory that the worker held. ``--first`` measures the first night of all: Neo4j has to
plan then whatever a night asks it for.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.platform_speed import AS_DEPLOYED, WARM_UP
from bench.sleep_latency import ASLEEP, show
from support.processes.platform import Platform
from support.servers.machine import free_port
from support.servers.neo4j.server import NEO4J
from support.servers.qdrant import QDRANT
from support.servers.redis import REDIS
from support.servers.run import Run
from support.servers.sources import Source
from vicw_bench.speed.ingest import post_all
from vicw_bench.speed.retrieve import Latency, ask
from vicw_bench.speed.synthetic import Chat

_NIGHT_SECONDS = 300.0
_LOOK_SECONDS = 0.5
_QUIET_SECONDS = 20.0
_RESIDENT = re.compile(r"^Pss:\s+(\d+) kB$", re.MULTILINE)
_FOLDED = re.compile(r"^vicw_consolidate_events_total (\S+)$", re.MULTILINE)


def resident(group: int) -> int:
    """Return how many MB the processes of a group hold. What they share counts once, as in a container."""
    held = 0
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(ProcessLookupError, FileNotFoundError):
            if os.getpgid(int(process.name)) == group:
                found = _RESIDENT.search((process / "smaps_rollup").read_text())
                held += int(found[1]) if found else 0
    return held // 1024


def consolidated(metrics: str) -> float:
    """Return how many Events the sleep worker has consolidated, as it tells there."""
    found = _FOLDED.search(httpx.get(metrics, timeout=30, trust_env=False).text)
    return float(found[1]) if found else 0.0


class Sleeper:
    """The sleep worker and its clock, from now on."""

    def __init__(self, platform: Platform) -> None:
        port = free_port()
        self._metrics = f"http://127.0.0.1:{port}/metrics"
        self._worker = platform.sleeper(**ASLEEP, VICW_METRICS_PORT=str(port)).start()
        self._beat = platform.beat(**ASLEEP).start()
        self.most_mb = 0

    async def until_it_consolidates(self) -> None:
        async with asyncio.timeout(_NIGHT_SECONDS):
            while not consolidated(self._metrics):  # noqa: ASYNC110 - it is another process that consolidates
                await asyncio.sleep(_LOOK_SECONDS)

    async def until_nothing_is_left(self) -> None:
        """Wait until nothing was consolidated for a while: dreams come after, and take less."""
        await self.until_it_consolidates()
        before = -1.0
        async with asyncio.timeout(_NIGHT_SECONDS):
            while before < (before := self.consolidated):  # noqa: ASYNC110 - as above
                await asyncio.sleep(_QUIET_SECONDS)

    @property
    def consolidated(self) -> float:
        return consolidated(self._metrics)

    async def watch(self) -> None:
        """Note the most MB that the worker's processes hold, until cancelled."""
        while True:
            self.most_mb = max(self.most_mb, resident(self._worker.pid))
            await asyncio.sleep(1)

    def wake(self) -> None:
        self._worker.kill()
        self._beat.kill()


async def measure(
    platform: Platform, messages: int, queries: int, rest: float, *, first: bool
) -> tuple[Latency, Latency]:
    """Ask by day, then by night."""
    platform.start()
    worker = platform.worker().start()
    told = list(Chat().requests(messages, 100))
    half = 0 if first else len(told) // 2
    if half:
        await post_all(platform.ingest.url, told[:half])
        sleeper = Sleeper(platform)
        await sleeper.until_nothing_is_left()
        sleeper.wake()
    seconds = await post_all(platform.ingest.url, told[half:])
    print(f"filled with {messages} messages, the last {len(told) - half} hundred in {seconds:.0f} s", flush=True)
    asked = Chat().questions(WARM_UP + 2 * queries)
    await ask(platform.retrieval.url, asked[:WARM_UP], 1)
    day = await ask(platform.retrieval.url, asked[WARM_UP : WARM_UP + queries], 1, rest_seconds=rest)
    sleeper = Sleeper(platform)
    await sleeper.until_it_consolidates()
    before, watching = sleeper.consolidated, asyncio.create_task(sleeper.watch())
    night = await ask(platform.retrieval.url, asked[WARM_UP + queries :], 1, rest_seconds=rest)
    seconds = night.queries / night.queries_per_second
    print(f"{sleeper.consolidated - before:.0f} Events were consolidated in the {seconds:.0f} s of asking", flush=True)
    print(f"the sleep worker held {sleeper.most_mb} MB at most", flush=True)
    watching.cancel()
    worker.kill()
    return day, night


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=5_000)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--rest", type=float, default=0.2, help="Seconds between an answer and the next question.")
    parser.add_argument("--first", action="store_true", help="Measure the first night of all.")
    options = parser.parse_args()
    run = Run()
    graph = replace(NEO4J, own=[Source("jars", AS_DEPLOYED), *NEO4J.own])
    with tempfile.TemporaryDirectory(prefix="vicw-bench-") as folder:
        models = Path(folder) / "models"
        platform = Platform(Path(folder), models, run.shared(graph), run.shared(QDRANT), run.shared(REDIS))
        for variable in ("VICW_INGEST_BATCH", "VICW_REDIS_POLL_SECONDS", "VICW_INGEST_WAIT_SECONDS"):
            platform.variables.pop(variable, None)  # how the tests set it up is for tests
        try:
            measured = measure(platform, options.messages, options.queries, options.rest, first=options.first)
            show(*asyncio.run(measured))
        finally:
            platform.close()
            run.close()


if __name__ == "__main__":
    main()
