"""``python tests/bench/embedding_threads.py``: what pinning and spinning of llama.cpp's threads cost.

One embedding server runs for each value of ``--threads``, OMP_PROC_BIND/GOMP_SPINCOUNT; questions go to them in turns,
each after a pause. Without ``--model`` that is all-MiniLM-L6-v2 as GGUF.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import aiohttp

from bench.embedding import Server, embed
from bench.embedding_engines import cpu_seconds
from support.models import minilm_gguf
from vicw_runtime.listener import fast_loop

PAUSE_SECONDS = 0.1


def start(model: Path, threads: str) -> Server:
    os.environ["OMP_PROC_BIND"], os.environ["GOMP_SPINCOUNT"] = threads.split("/")
    return Server(model)


async def measure(servers: dict[str, Server], count: int) -> None:
    """Print percentiles of milliseconds, and the mean of processor milliseconds a question."""
    taken: dict[str, list[float]] = {name: [] for name in servers}
    spent = {name: -cpu_seconds(server) for name, server in servers.items()}
    async with aiohttp.ClientSession() as session:
        for number in range(count):
            for name, server in servers.items():
                await asyncio.sleep(PAUSE_SECONDS)
                began = time.perf_counter()
                await embed(session, server.url, [f"when did Ana talk about the new job {number}?"], "query")
                taken[name].append((time.perf_counter() - began) * 1000)
    print(f"{'threads':14}{'p10':>8}{'p50':>8}{'p90':>8}{'processor':>11}   ms")
    for name, server in servers.items():
        tenths = statistics.quantiles(taken[name], n=10)
        print(
            f"{name:14}{tenths[0]:8.1f}{tenths[4]:8.1f}{tenths[8]:8.1f}"
            f"{(spent[name] + cpu_seconds(server)) * 1000 / count:11.1f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, help="a GGUF (tests/bench/embedding.py writes a large one)")
    parser.add_argument("--threads", default="true/3000,false/3000,false/500,false/100", metavar="BIND/SPINS,…")
    parser.add_argument("--questions", type=int, default=100)
    options = parser.parse_args()
    servers: dict[str, Server] = {}
    with tempfile.TemporaryDirectory() as folder:
        model = options.model or minilm_gguf.ensure(Path(folder))
        try:
            for threads in options.threads.split(","):
                servers[threads] = start(model, threads)
            asyncio.run(measure(servers, options.questions), loop_factory=fast_loop())
        finally:
            for server in servers.values():
                server.close()


if __name__ == "__main__":
    main()
