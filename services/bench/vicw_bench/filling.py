"""Fills a memory with a set, in file order, so that the embedder never waits for the writer."""

from __future__ import annotations

import itertools
import json
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from vicw_bench.sets import FidelitySet, Remembered
from vicw_bench.targets import Target
from vicw_shared.wire.ingest import Extract, IngestRequest, IngestResponse

BATCH = 100
_UNDER_WAY = 5
_MARKER = "bench-complete.json"


@dataclass(frozen=True, slots=True)
class Filled:
    """What filling took, in seconds and characters of text; ``created`` counts the items that were new.

    ``tokens`` are those that the embedder read meanwhile, None where it does not tell.
    """

    items: int
    created: int
    chars: int
    seconds: float
    tokens: int | None = None

    @property
    def chars_per_second(self) -> float | None:
        """Throughput, or None if part of the items was there before: then it says nothing."""
        return self._rate(self.chars)

    @property
    def tokens_per_second(self) -> float | None:
        """Throughput of the embedder's own tokens, None as above."""
        return self._rate(self.tokens)

    def _rate(self, count: int | None) -> float | None:
        return count / self.seconds if count and self.items == self.created and self.seconds > 0 else None


async def fill(
    target: Target, data: FidelitySet, progress: Callable[[int], None], extract: Extract = Extract.AUTO
) -> Filled:
    """Remember every item of ``data`` and return when all are found.

    Items go in one request after the other, so that flows keep their order; indexing follows behind, a few
    requests wide. What is there already costs little: a run that was killed goes on. ``progress`` gets the
    number of items found so far.
    """
    started, read_before = time.monotonic(), target.tokens_read()
    waiting: deque[IngestResponse] = deque()
    done = created = 0

    async def settle(most: int) -> None:
        nonlocal done
        while len(waiting) > most:
            response = waiting.popleft()
            await target.settled(response)
            done += len(response.items)
            progress(done)

    for request in requests(data.items, extract):
        response = await target.remember(request)
        created += sum(item.status == "created" for item in response.items)
        waiting.append(response)
        await settle(_UNDER_WAY)
    await settle(0)
    seconds, read = round(time.monotonic() - started, 3), target.tokens_read()
    chars = sum(len(entry.item.text) for entry in data.items)
    tokens = read - read_before if read is not None and read_before is not None else None
    return Filled(len(data.items), created, chars, seconds, tokens)


def requests(items: Sequence[Remembered], extract: Extract = Extract.AUTO) -> Iterator[IngestRequest]:
    """Yield the items as requests of one context and domain each, at most ``BATCH`` items, in order."""
    for (context, domain), run in itertools.groupby(items, key=lambda entry: (entry.context, entry.domain)):
        for part in itertools.batched(run, BATCH):
            yield IngestRequest(
                context=context, domain=domain, wait=False, extract=extract, items=tuple(e.item for e in part)
            )


def read_marker(store: Path) -> Filled | None:
    """Return what filling the store took, or None if it is not complete."""
    try:
        return Filled(**json.loads((store / _MARKER).read_text("utf-8")))
    except FileNotFoundError:
        return None


def write_marker(store: Path, filled: Filled) -> None:
    """Say that the store is complete."""
    (store / _MARKER).write_text(json.dumps(asdict(filled)), "utf-8")
