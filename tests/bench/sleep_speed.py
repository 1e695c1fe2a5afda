"""``python tests/bench/sleep_speed.py [--messages N] [--one-thread] [--store DIR]``: how fast a store is consolidated.

Fills an embedded store through the real write path, with the rules' extraction and vectors of hashed words (or takes
one that it has filled), and consolidates everything as a night does, turn by turn, without the rests. Prints the
seconds beside embedding, Events a second, and the most memory that was resident, of which a part is the stores' mapped
files.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from numpy.typing import NDArray

from support.fakes.hash_embedder import HashEmbedder
from support.stores.memory import settings_for
from vicw_bench.speed.synthetic import Chat
from vicw_ingest.pipeline import ingest
from vicw_shared.ports import Lane
from vicw_shared.settings import ConsolidationSettings
from vicw_shared.wire.ingest import IngestRequest
from vicw_sleep.consolidation.job import consolidate_slice, consolidation_of
from vicw_standalone.wiring import Standalone

ASLEEP = ConsolidationSettings(hours=0, used_hours=0)


class Timed(HashEmbedder):
    """Counts the seconds that embedding takes."""

    seconds = 0.0

    async def embed(self, texts: Sequence[str], lane: Lane) -> NDArray[np.float32]:
        began = time.perf_counter()
        rows = await super().embed(texts, lane)
        self.seen.clear()
        self.seconds += time.perf_counter() - began
        return rows


def joined(request: IngestRequest) -> IngestRequest:
    """Return the same messages as part of the one thread of a context."""
    items = tuple(item.model_copy(update={"flow_id": "one"}) for item in request.items)
    return request.model_copy(update={"context": "one", "items": items})


async def fill(standalone: Standalone, messages: int, *, in_one: bool) -> None:
    began = time.perf_counter()
    for made in Chat().requests(messages, 500):
        request = joined(made) if in_one else made
        await ingest(request, "default", standalone.ingest_ports())
        await standalone.indexer.drain()
    print(f"filled with {messages} messages in {time.perf_counter() - began:.0f} s", flush=True)


async def sleep(standalone: Standalone, embedder: Timed) -> None:
    embedder.seconds = 0.0
    began = time.perf_counter()
    events = macros = refused = turns = 0
    mark = None
    while (done := await consolidate_slice(consolidation_of(standalone.memory()), ASLEEP, mark)) is not None:
        events, macros, refused, turns = events + done.events, macros + done.macros, refused + done.refused, turns + 1
        if (mark := done.next) is None:
            break
    taken = time.perf_counter() - began
    beside = taken - embedder.seconds
    print(f"{events} Events became {macros} Macro-Events, {refused} batches refused, in {turns} turns")
    print(f"{taken:.1f} s, {beside:.1f} s of them beside embedding: {events / beside:.0f} Events a second")
    print(f"at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB resident")


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=5_000)
    parser.add_argument("--fill", action="store_true", help="Only fill the store, or go on with it.")
    parser.add_argument("--one-thread", action="store_true", help="All messages are one thread.")
    parser.add_argument("--store", type=Path, help="Where the store is, or is to be. [default: a temporary folder]")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = asked.store or Path(folder)
        there = (path / "graph.sqlite3").exists()
        embedder = Timed()
        settings = replace(settings_for(path), consolidation=ASLEEP)
        standalone = Standalone(settings, embedder)
        await standalone.open()
        try:
            if asked.fill or not there:
                await fill(standalone, asked.messages, in_one=asked.one_thread)
            if not asked.fill:
                await sleep(standalone, embedder)
        finally:
            await standalone.close()


if __name__ == "__main__":
    asyncio.run(main())
