"""What a question pays for trigger phrases and for who its viewer is: ``python tests/bench/lookups.py [ITEMS]``.

An embedded graph of so many items (100,000), each with three phrases of its own and one that a hundred items have, and
of a thousand users. Prints milliseconds a look-up, the median and the 95th of a hundred.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from vicw_retrieval.access.viewer_identity import with_viewer_identities
from vicw_retrieval.channels.runner import seeds_of
from vicw_shared.model import Edge, EdgeRegistry, Label, Node
from vicw_shared.model.edges import IS_PERSON
from vicw_shared.ports import Audience, GraphTransaction, Scope
from vicw_shared.settings import RetrievalSettings
from vicw_shared.uids import edge_id, make_uid
from vicw_stores.data_dir import DataDir
from vicw_stores.sqlite import SqliteGraphStore

AT = datetime(2026, 1, 1, tzinfo=UTC)
SCOPE = Scope(tenant="t", now=AT)
USERS, TIMES, PAGE = 1000, 100, 5000
_PLAIN = Node(
    uid="", label=Label.EVENT, tenant="t", context="c", name="n", subtype="note", domain="general", created_at=AT
)


def item(number: int) -> Node:
    uid = make_uid("item", str(number))
    phrases = (f"alpha {number}", f"beta gamma {number}", f"delta {number} epsilon", f"shared {number // 100}")
    return replace(_PLAIN, uid=uid, qdrant_id=uid, content_hash="h", trigger_phrases=phrases)


def thing(name: str, subtype: str) -> Node:
    return replace(_PLAIN, uid=make_uid(subtype, name), label=Label.ENTITY, name=name, subtype=subtype)


async def put(graph: SqliteGraphStore, nodes: Sequence[Node], edges: Sequence[Edge] = ()) -> None:
    async def work(transaction: GraphTransaction) -> None:
        await transaction.put_nodes(nodes)
        await transaction.put_edges(edges)

    await graph.write("t", "c", work)


async def fill(graph: SqliteGraphStore, items: int) -> None:
    people = [(thing(f"u{n}", "user"), thing(f"Person {n}", "person")) for n in range(USERS)]
    edges = [
        Edge(
            id=edge_id(IS_PERSON, user.uid, person.uid),
            type=IS_PERSON,
            source=user.uid,
            target=person.uid,
            weight=1.0,
            created_at=AT,
            created_by="bench",
        )
        for user, person in people
    ]

    await put(graph, [node for pair in people for node in pair], edges)
    for start in range(0, items, PAGE):
        page = [item(number) for number in range(start, min(start + PAGE, items))]
        await put(graph, page)


async def measured(name: str, look: Callable[[int], Awaitable[object]]) -> None:
    await look(0)
    took = []
    for number in range(TIMES):
        began = time.perf_counter()
        await look(number)
        took.append(1000 * (time.perf_counter() - began))
    print(f"{name:42} p50 {statistics.median(took):6.2f} ms   p95 {sorted(took)[int(0.95 * TIMES)]:6.2f} ms")


async def main(items: int) -> None:
    settings = RetrievalSettings()
    with tempfile.TemporaryDirectory() as room, DataDir(Path(room) / "data") as data_dir:
        graph = SqliteGraphStore(data_dir, EdgeRegistry.with_core_types())
        began = time.perf_counter()
        await fill(graph, items)
        print(f"{items} items stored in {time.perf_counter() - began:.1f} s")
        long = " ".join(f"word{n}" for n in range(250))
        known = replace(SCOPE, audience=Audience(identities=("u7",)))
        unknown = replace(SCOPE, audience=Audience(identities=("nobody",)))
        await measured(
            "a question of 12 words without a phrase",
            lambda n: seeds_of(f"why did the build of the north tower break again on day {n}", SCOPE, graph, settings),
        )
        await measured(
            "one with a phrase of one item",
            lambda n: seeds_of(f"what about beta gamma {n} in the north tower", SCOPE, graph, settings),
        )
        await measured(
            "one with a phrase of a hundred items",
            lambda n: seeds_of(f"what about shared {n} in the north tower", SCOPE, graph, settings),
        )
        await measured("one of 250 words", lambda n: seeds_of(long, SCOPE, graph, settings))
        await measured("a viewer who is a person", lambda n: with_viewer_identities(graph, known))
        await measured("a viewer whom nobody knows", lambda n: with_viewer_identities(graph, unknown))
        await graph.close()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000))
