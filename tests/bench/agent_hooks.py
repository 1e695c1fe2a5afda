"""``python tests/bench/agent_hooks.py [--memories N] [--store DIR]``: how long a prompt waits for its hook.

Fills a store (or takes one that it has filled), serves a copy of it with the real model, and sends prompts as the hook
of an agent does, by one client: while the server rests, and while consolidation, dreams and resolving run. Prints the
percentiles of both, and how many prompts were over the deadline.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import httpx

from bench.sleep_latency import ASLEEP, RESTING, consolidated
from vicw_bench.metrics import percentile
from vicw_bench.speed.retrieve import fill_synthetic, identity_of
from vicw_bench.speed.server import RunningServer, serve
from vicw_bench.speed.synthetic import CONTEXTS, Chat
from vicw_standalone.settings import StandaloneSettings

_WARM_UP = 50
_DEADLINE_MS = 500.0
_NIGHT_SECONDS = 150.0
_LATE = re.compile(r'^vicw_hook_recalls_total\{outcome="(?:late|failed)"\} (\S+)$', re.MULTILINE)


async def send(url: str, prompts: Sequence[str], rest: float) -> list[float]:
    """Send prompts one after the other, each of a session of its own; return how long each took, in ms."""
    taken = []
    async with httpx.AsyncClient(base_url=url, timeout=60, trust_env=False) as client:
        for number, prompt in enumerate(prompts):
            context = f"chat {number % CONTEXTS}"
            event = {"event": "prompt", "context": context, "session": f"s{number}", "prompt": prompt}
            begun = time.perf_counter()
            (await client.post("/hooks/session", json=event)).raise_for_status()
            taken.append((time.perf_counter() - begun) * 1000)
            await asyncio.sleep(rest)
    return taken


async def measure(
    store: Path, settings: StandaloneSettings, how: Mapping[str, str], prompts: Sequence[str], rest: float
) -> None:
    """Serve a copy of the store with these settings, and print how long prompts waited."""
    with tempfile.TemporaryDirectory(dir=store.parent) as folder:
        copy = Path(folder) / "store"
        shutil.copytree(store, copy)
        os.environ |= how
        async with serve(copy, model=settings.embedding.model, models_dir=settings.models_dir) as server:
            await send(server.url, prompts[:_WARM_UP], 0.0)
            if how is ASLEEP:
                async with asyncio.timeout(_NIGHT_SECONDS):
                    while not consolidated(server):  # noqa: ASYNC110 - it is another process that consolidates
                        await asyncio.sleep(0.5)
            before = consolidated(server)
            taken = await send(server.url, prompts[_WARM_UP:], rest)
            after = consolidated(server)
            unanswered = _unanswered(server)
        for name in how:
            del os.environ[name]
    late = sum(one > _DEADLINE_MS for one in taken)
    name = "asleep" if how is ASLEEP else "at rest"
    print(
        f"{name:8} {len(taken)} prompts: p50 {percentile(taken, 0.5):6.1f} ms, p95 {percentile(taken, 0.95):6.1f}, "
        f"max {max(taken):6.1f}; {late} over {_DEADLINE_MS:.0f} ms, {unanswered:.0f} without an answer in time; "
        f"{after - before:.0f} Events consolidated meanwhile",
        flush=True,
    )


def _unanswered(server: RunningServer) -> float:
    metrics = httpx.get(f"{server.url}/metrics", timeout=30, trust_env=False).text
    return sum(float(found) for found in _LATE.findall(metrics))


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--prompts", type=int, default=300)
    parser.add_argument("--rest", type=float, default=0.2, help="Seconds between an answer and the next prompt.")
    parser.add_argument("--store", type=Path, help="Where the store is, or is to be. [default: a temporary folder]")
    options = parser.parse_args()
    settings = StandaloneSettings.read()
    with tempfile.TemporaryDirectory() as folder:
        store = options.store or Path(folder) / "store"
        identity = await identity_of(settings)
        filled = await fill_synthetic(settings, store, identity, options.memories, lambda *_: None)
        print(f"{filled.items} memories, filled in {filled.seconds:.0f} s", flush=True)
        prompts = Chat().questions(_WARM_UP + options.prompts)
        for how in (RESTING, ASLEEP):
            await measure(store, settings, how, prompts, options.rest)


if __name__ == "__main__":
    asyncio.run(main())
