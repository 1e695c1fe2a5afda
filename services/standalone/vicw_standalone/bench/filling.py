"""Fills a memory with a set, in file order, so that the embedder never waits for the writer."""

from __future__ import annotations

import itertools
import json
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from vicw_shared.wire.ingest import IngestRequest, IngestResponse
from vicw_standalone.bench.sets import FidelitySet, Remembered
from vicw_standalone.bench.targets import Target

BATCH = 100
_UNDER_WAY = 5
_MARKER = "bench-complete.json"


@dataclass(frozen=True, slots=True)
class Filled:
    """What filling took, in seconds and characters of text; ``created`` counts the items that were new."""

    items: int
    created: int
    chars: int
    seconds: float

    @property
    def chars_per_second(self) -> float | None:
        """Throughput, or None if part of the items was there before: then it says nothing."""
        return self.chars / self.seconds if self.items == self.created and self.seconds > 0 else None


async def fill(target: Target, data: FidelitySet, progress: Callable[[int], None]) -> Filled:
    """Remember every item of ``data`` and return when all are found.

    Items go in one request after the other, so that flows keep their order; indexing follows behind, a few
    requests wide. What is there already costs little: a run that was killed goes on. ``progress`` gets the
    number of items found so far.
    """
    started = time.monotonic()
    waiting: deque[IngestResponse] = deque()
    done = created = 0

    async def settle(most: int) -> None:
        nonlocal done
        while len(waiting) > most:
            response = waiting.popleft()
            await target.settled(response)
            done += len(response.items)
            progress(done)

    for request in requests(data.items):
        response = await target.remember(request)
        created += sum(item.status == "created" for item in response.items)
        waiting.append(response)
        await settle(_UNDER_WAY)
    await settle(0)
    chars = sum(len(entry.item.text) for entry in data.items)
    return Filled(len(data.items), created, chars, round(time.monotonic() - started, 3))


def requests(items: Sequence[Remembered]) -> Iterator[IngestRequest]:
    """Yield the items as requests of one context and domain each, at most ``BATCH`` items, in order."""
    for (context, domain), run in itertools.groupby(items, key=lambda entry: (entry.context, entry.domain)):
        for part in itertools.batched(run, BATCH):
            yield IngestRequest(context=context, domain=domain, wait=False, items=tuple(e.item for e in part))


def read_marker(store: Path) -> Filled | None:
    """Return what filling the store took, or None if it is not complete."""
    try:
        return Filled(**json.loads((store / _MARKER).read_text("utf-8")))
    except FileNotFoundError:
        return None


def write_marker(store: Path, filled: Filled) -> None:
    """Say that the store is complete."""
    (store / _MARKER).write_text(json.dumps(asdict(filled)), "utf-8")
