"""``python tests/bench/sleep_latency.py [--messages N] [--store DIR]``: what a night costs whoever asks meanwhile.

Fills a store through ``vicw serve`` and the real model (or takes one that it has filled), then asks the same number of
questions of two copies of it, one after the other, by one client: of one that rests, and of one where a night of
consolidation, dreams and resolving has begun. Prints both, their ratio, and how far the night came meanwhile.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import httpx

from vicw_bench.speed.ingest import post_all
from vicw_bench.speed.retrieve import Latency, ask
from vicw_bench.speed.server import RunningServer, serve
from vicw_bench.speed.synthetic import Chat
from vicw_shared.embedding_models import DEFAULT_MODEL

_WARM_UP = 100
_LOOK_SECONDS = 0.5
_NIGHT_SECONDS = 150.0
_FOLDED = re.compile(r"^vicw_consolidate_events_total (\S+)$", re.MULTILINE)
RESTING = {"VICW_SLEEP_PAUSED": "true"}
ASLEEP = {
    f"VICW_{task}_{name}": value
    for task in ("CONSOLIDATE", "DREAM", "RESOLVE")
    for name, value in (("SCHEDULE", "* * * * *"), ("HOURS", "0"))
} | {"VICW_CONSOLIDATE_USED_HOURS": "0"}


def consolidated(server: RunningServer) -> float:
    """Return how many Events have been consolidated."""
    found = _FOLDED.search(httpx.get(f"{server.url}/metrics", timeout=30, trust_env=False).text)
    return float(found[1]) if found else 0.0


async def measure(
    store: Path, model: str, models: Path, settings: Mapping[str, str], asked: Sequence[str], rest: float
) -> Latency:
    """Serve a copy of the store with these settings, and ask; at night, once the night has begun."""
    with tempfile.TemporaryDirectory(dir=store.parent) as folder:
        copy = Path(folder) / "store"
        shutil.copytree(store, copy)
        os.environ |= settings
        async with serve(copy, model=model, models_dir=models) as server:
            await ask(server.url, asked[:_WARM_UP], 1)
            if settings is ASLEEP:
                async with asyncio.timeout(_NIGHT_SECONDS):
                    while not consolidated(server):  # noqa: ASYNC110 - it is another process that consolidates
                        await asyncio.sleep(_LOOK_SECONDS)
            before = consolidated(server)
            latency = await ask(server.url, asked[_WARM_UP:], 1, rest_seconds=rest)
            seconds = latency.queries / latency.queries_per_second
            if settings is ASLEEP:
                print(
                    f"{consolidated(server) - before:.0f} Events were consolidated in the {seconds:.0f} s of asking",
                    flush=True,
                )
        for name in settings:
            del os.environ[name]
    return latency


def show(day: Latency, night: Latency) -> None:
    """Print both, and their ratio."""
    for name, latency in (("at rest", day), ("asleep", night)):
        print(f"{name:10} p50 {latency.p50_ms:6.1f} ms, p95 {latency.p95_ms:6.1f}, p99 {latency.p99_ms:6.1f}")
    print(f"ratio      p50 {night.p50_ms / day.p50_ms:6.2f}   , p95 {night.p95_ms / day.p95_ms:6.2f}")


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--rest", type=float, default=0.2, help="Seconds between an answer and the next question.")
    parser.add_argument("--store", type=Path, help="Where the store is, or is to be. [default: a temporary folder]")
    parser.add_argument("--model", help="A GGUF. [default: all-MiniLM-L6-v2]")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store, models = options.store or Path(folder) / "store", Path(folder) / "models"
        model = options.model or DEFAULT_MODEL
        if not (store / "graph.sqlite3").exists():
            async with serve(store, model=str(model), models_dir=models) as server:
                seconds = await post_all(server.url, list(Chat().requests(options.messages, 100)))
                print(f"filled with {options.messages} messages in {seconds:.0f} s", flush=True)
        asked = Chat().questions(_WARM_UP + options.queries)
        day, night = [await measure(store, str(model), models, how, asked, options.rest) for how in (RESTING, ASLEEP)]
    show(day, night)


if __name__ == "__main__":
    asyncio.run(main())
