"""How long counting takes: ``python tests/bench/item_counts.py [ITEMS]``; ``--neo4j URL`` measures that server.

A tenant of so many items (100,000) in ten contexts, with a passage of 500 characters each, half of them said by one of
a thousand users, a tenth of them retired. Prints milliseconds for a page of a hundred of ``GET /contexts`` and
``/users``, and for what ``/stats`` reads, without a viewer and for one: the median and the most of twenty, and the
median of this process' CPU time, which other work on the machine does not stretch. A named server is emptied first.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from bench.item_list import AT, BATCH, item, opened
from vicw_shared.model import Edge, Label, Node, Sensitivity
from vicw_shared.ports import Audience, GraphTransaction, NamePage, Scope, SpeakerPage, Store
from vicw_shared.uids import edge_id, make_uid

TIMES, USERS = 20, 1000


def nodes_of(one: Node, number: int) -> Iterator[Node]:
    chunk = make_uid("chunk", str(number))
    text = f"{number} " + "word " * 99
    level = Sensitivity.PERSONAL if number % 4 == 0 else Sensitivity.PUBLIC
    yield replace(one, qdrant_id=chunk, speaker=f"Speaker {number % USERS}", sensitivity=level)
    yield replace(
        one,
        uid=chunk,
        label=Label.CHUNK,
        subtype="passage",
        content_hash=None,
        source_id=None,
        metadata={},
        arrival=None,
        text=text,
        qdrant_id=chunk,
        indexed=number % 50 != 0,
    )


def edge(kind: str, source: str, target: str) -> Edge:
    return Edge(
        id=edge_id(kind, source, target),
        type=kind,
        source=source,
        target=target,
        weight=1.0,
        created_at=AT,
        created_by="bench",
        properties={},
    )


async def fill(graph: Store, items: int) -> None:
    draw = random.Random(0)
    plain = item(0, draw)
    users = [
        replace(
            plain,
            uid=make_uid("user", str(number)),
            label=Label.ENTITY,
            subtype="user",
            name=f"u-{number}",
            content_hash=None,
            source_id=None,
            metadata={},
            arrival=None,
        )
        for number in range(USERS)
    ]
    for start in range(0, items, BATCH):
        numbers = range(start, min(start + BATCH, items))
        batch = [item(number, draw) for number in numbers]
        nodes = [node for one, number in zip(batch, numbers, strict=True) for node in nodes_of(one, number)]
        edges = [
            edge("EVIDENCED_BY", one.uid, make_uid("chunk", str(number)))
            for one, number in zip(batch, numbers, strict=True)
        ]
        edges += [
            edge("STATED_BY", one.uid, users[number % USERS].uid)
            for one, number in zip(batch, numbers, strict=True)
            if number % 2
        ]

        async def work(transaction: GraphTransaction, nodes: list[Node] = nodes, edges: list[Edge] = edges) -> None:
            await transaction.put_nodes([*users, *nodes] if nodes[0].source_id == "0" else nodes)
            await transaction.put_edges(edges)

        await graph.write("t", batch[0].context, work)


async def measure(graph: Store) -> None:
    print(f"{'read':22} {'p50':>8} {'most':>8} {'CPU':>8} ms")
    at = AT + timedelta(days=30)
    scopes = {
        "": Scope(tenant="t", now=at),
        " of a viewer": Scope(tenant="t", now=at, audience=Audience(identities=("ana",))),
    }
    for name, scope in scopes.items():
        reads: dict[str, Callable[[], Awaitable[object]]] = {
            "contexts": lambda scope=scope: graph.context_parts(scope, page=NamePage(limit=101)),  # type: ignore[misc]
            "retired": lambda scope=scope: graph.context_parts(scope, retired=True),  # type: ignore[misc]
            "users": lambda scope=scope: graph.speaker_parts(scope, SpeakerPage(limit=101)),  # type: ignore[misc]
            "days": lambda scope=scope: graph.arrivals_by_day(scope, AT),  # type: ignore[misc]
        }
        for read, ask in reads.items():
            took, worked = [], []
            for _ in range(TIMES):
                began, at_work = time.perf_counter(), time.process_time()
                await ask()
                worked.append((time.process_time() - at_work) * 1000)
                took.append((time.perf_counter() - began) * 1000)
            print(f"{read + name:22} {statistics.median(took):8.1f} {max(took):8.1f} {statistics.median(worked):8.1f}")


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("items", type=int, nargs="?", default=100_000)
    parser.add_argument("--neo4j")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        async with opened(asked.neo4j, Path(folder)) as graph:
            began = time.process_time()
            await fill(graph, asked.items)
            print(f"{asked.items} items in {time.process_time() - began:.1f} s of CPU time")
            await measure(graph)


if __name__ == "__main__":
    asyncio.run(main())
