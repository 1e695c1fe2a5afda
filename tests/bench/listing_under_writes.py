"""``python tests/bench/listing_under_writes.py [ITEMS]``: every item through the cursor while others write.

A tenant of so many items (1,000,000) on the embedded store, served over HTTP without vectors. One client lists all of
them, a page of a hundred at a time, while eight others store, change and retract items, ``--writes`` requests a second.
Prints milliseconds of a page, how many items that were live all the time came once, more often or never, and the
server's memory at the beginning, in the middle and at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.item_list import fill, opened
from vicw_bench.speed.server import RunningServer, serve
from vicw_client import AsyncVicwClient
from vicw_shared.embedding_models import DEFAULT_MODEL

_PAGE, _WRITERS = 100, 8
_EMPTY = {"VICW_EMBEDDER": "none", "VICW_SLEEP_PAUSED": "true"}


async def write(url: str, writer: int, per_second: float, changes: list[int]) -> None:
    """Store an item, change it and retract it in turn, so many requests a second; ``changes`` counts what came."""
    async with AsyncVicwClient(url) as client:
        for number in itertools.count():
            began = time.perf_counter()
            name = f"new {writer}.{number // 3}"
            if number % 3 == 2:
                await client.retract(context="written", ids=[name])
            else:
                await client.ingest(
                    context="written", items=[{"id": name, "text": f"{name}, {number}"}], extract="none"
                )
            changes.append(number)
            await asyncio.sleep(max(0.0, 1 / per_second - (time.perf_counter() - began)))


async def pages(server: RunningServer, order: str) -> AsyncIterator[tuple[list[str], float]]:
    """Yield the uids of each page, and its milliseconds."""
    async with AsyncVicwClient(server.url) as client:
        cursor: str | None = None
        while True:
            began = time.perf_counter()
            page = await client.items(order=order, direction="asc", limit=_PAGE, cursor=cursor)
            yield [item.uid for item in page.items], (time.perf_counter() - began) * 1000
            if (cursor := page.next) is None:
                return


async def measure(server: RunningServer, live: set[str], order: str, per_second: float) -> None:
    """List everything beside the writer, and print what came."""
    changes: list[int] = []
    writers = [
        asyncio.create_task(write(server.url, writer, per_second / _WRITERS, changes)) for writer in range(_WRITERS)
    ]
    times: list[float] = []
    memory: list[float] = []
    seen: Counter[str] = Counter()
    began = time.perf_counter()
    async for uids, milliseconds in pages(server, order):
        seen.update(uid for uid in uids if uid in live)
        times.append(milliseconds)
        if len(times) % 500 == 1:
            memory.append(server.resident()["server"].own)
    seconds = time.perf_counter() - began
    for writer in writers:
        writer.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await writer
    often = Counter(seen.values())
    print(
        f"{order:10} {len(times)} pages in {seconds:.0f} s, p50 {statistics.median(times):.1f} ms, "
        f"p95 {statistics.quantiles(times, n=20)[-1]:.1f}; {len(changes) / seconds:.0f} writes a second; items that "
        f"came once: {often[1]} of {len(live)}, more often: {len(seen) - often[1]}, never: {len(live) - len(seen)}; "
        f"MiB of the server: {memory[0]:.0f}, {memory[len(memory) // 2]:.0f}, {memory[-1]:.0f}",
        flush=True,
    )


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("items", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--orders", default="told,arrival", help="separated by commas")
    parser.add_argument("--writes", type=float, default=50.0, help="requests a second")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="vicw-bench-") as folder:
        began = time.perf_counter()
        async with opened(None, Path(folder)) as graph:
            live = {node.uid for node in await fill(graph, options.items, "default")}
        print(f"{options.items} items in {time.perf_counter() - began:.0f} s, {len(live)} of them live", flush=True)
        os.environ |= _EMPTY
        async with serve(Path(folder), model=DEFAULT_MODEL, models_dir=Path(folder) / "models") as server:
            for order in options.orders.split(","):
                await measure(server, live, order, options.writes)


if __name__ == "__main__":
    asyncio.run(main())
