"""What a filter costs a question: ``python tests/bench/filtered_questions.py [ITEMS] [--questions N]``.

A tenant of so many items (20,000) on the embedded stores, with vectors of random words. Prints milliseconds of a
question for ten results without a filter, and with filters by metadata that one in a thousand, one in a hundred and
half of the items pass, in turn, so that all meet the same machine: the median and the 95th of a hundred, the ratio of
the latter to that without a filter, and the fewest results that a question got. ``recall``: of the ten nearest passages
that pass, by a comparison with all passages, the share that a filtered search by vector finds.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from support.stores.memory import Memory, open_memory
from vicw_core.filters.compiler import compile_filter
from vicw_retrieval.search.filtered_search import filtered
from vicw_shared.clock import now
from vicw_shared.ports import Lane, Scope, VectorQuery
from vicw_shared.wire.filters import Filter

LIMIT, BATCH, RECALLS = 10, 200, 10
_FIRST = ("bar", "cor", "dal", "fen", "gol", "hur", "jin", "kel")
_WORDS = [f"{first}{last}" for first in _FIRST for last in "abcdefghij"]
FILTERS: dict[str, dict[str, Any] | None] = {
    "none": None,
    "0.1 %": {"metadata.room": 7},
    "1 %": {"metadata.house": 7},
    "50 %": {"metadata.house": {"lt": 50}},
    "0.1 % by tag": {"tags": "tag7"},
}


def words(draw: random.Random, count: int) -> str:
    return " ".join(draw.choices(_WORDS, k=count))


async def fill(memory: Memory, items: int) -> None:
    draw = random.Random(0)
    for start in range(0, items, BATCH):
        batch = [
            {
                "id": str(number),
                "text": f"{words(draw, 12)} {number}",
                "metadata": {"house": number % 100, "room": number % 1000},
                "tags": [f"tag{number % 1000}"] if number % 1000 < 10 else [],
            }
            for number in range(start, min(start + BATCH, items))
        ]
        await memory.ingest(*batch, context=f"c{start // BATCH % 10}", extract="caller", wait=True)


def passes(number: int, name: str) -> bool:
    rooms = {"0.1 %": number % 1000 == 7, "1 %": number % 100 == 7, "50 %": number % 100 < 50}
    return rooms.get(name, name == "none" or number % 1000 == 7)


async def recall(memory: Memory, name: str, query: str, items: int) -> float:
    """Return the share of the best of all passages, among those that pass, that a filtered search finds."""
    ports = memory.standalone.retrieval_ports()
    (vector,) = await memory.embedder.embed([query], Lane.QUERY)
    scope = Scope(tenant=memory.tenant, now=now())
    ranked = await ports.vectors.search(VectorQuery(scope=scope, dense=vector, limit=items))
    numbers = await numbers_of(memory, [hit.id for hit in ranked])
    best = [hit.id for hit in ranked if passes(numbers[hit.id], name)][:LIMIT]
    condition = compile_filter(Filter.model_validate(FILTERS[name] or {}), ports.limits)
    scope, ports = await filtered(replace(scope, condition=condition), ports)
    found = await ports.vectors.search(VectorQuery(scope=scope, dense=vector, limit=LIMIT))
    return len({hit.id for hit in found}.intersection(best)) / len(best)


async def numbers_of(memory: Memory, passages: list[str]) -> dict[str, int]:
    graph = memory.standalone.graph
    owners = await graph.owners(memory.tenant, passages)
    items = await graph.nodes(memory.tenant, [item.uid for item in owners.values()])
    return {passage: int(items[item.uid].source_id or -1) for passage, item in owners.items()}


async def measure(memory: Memory, items: int, questions: int) -> None:
    draw = random.Random(1)
    took: dict[str, list[float]] = {name: [] for name in FILTERS}
    got: dict[str, list[int]] = {name: [] for name in FILTERS}
    for number in range(questions + 3):
        query = words(draw, 4)
        for name in draw.sample(list(FILTERS), len(FILTERS)):
            began = time.perf_counter()
            answer = await memory.retrieve(query, limit=LIMIT, **({"filter": FILTERS[name]} if FILTERS[name] else {}))
            if number >= 3:  # the first ones warm up
                took[name].append((time.perf_counter() - began) * 1000)
                got[name].append(len(answer.results))
                assert all(passes(int(result.id or -1), name) for result in answer.results), name
    plain = statistics.quantiles(took["none"], n=20)[-1]
    print(f"{'filter':14} {'p50':>7} {'p95':>7} ms {'ratio':>6} {'results':>8} {'recall':>7}")
    for name, times in took.items():
        slow = statistics.quantiles(times, n=20)[-1]
        found = statistics.fmean([await recall(memory, name, words(draw, 4), items) for _ in range(RECALLS)])
        print(
            f"{name:14} {statistics.median(times):7.1f} {slow:7.1f}    {slow / plain:6.2f} "
            f"{min(got[name]):8} {found:7.3f}"
        )


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("items", type=int, nargs="?", default=20_000)
    parser.add_argument("--questions", type=int, default=100)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        async with open_memory(Path(folder)) as memory:
            began = time.perf_counter()
            await fill(memory, asked.items)
            print(f"{asked.items} items in {time.perf_counter() - began:.0f} s")
            await measure(memory, asked.items, asked.questions)


if __name__ == "__main__":
    asyncio.run(main())
