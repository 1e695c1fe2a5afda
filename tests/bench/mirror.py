"""What the mirror costs: ``python tests/bench/mirror.py [ITEMS [REST]]``.

An embedded graph of so many items (100,000) of about 500 characters, in ten buckets under a hundred tags from a
thousand sources; then as many again of one source without a tag, the worst there is for one bundle. Prints the seconds
of a build, of a run without changes, and of a run after one item was added: all of it right after the items came, so
that each run looks through them again; or ``REST`` seconds later (620: only the first run does).
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from vicw_shared.model import Edge, EdgeRegistry, Label, Node
from vicw_shared.ports import GraphTransaction
from vicw_shared.uids import chunk_uid, edge_id, make_uid
from vicw_sleep.mirror.service import Mirror
from vicw_stores.data_dir import DataDir
from vicw_stores.sqlite import SqliteGraphStore

AT = datetime(2026, 1, 1, tzinfo=UTC)
PAGE = 5000
_PLAIN = Node(
    uid="", label=Label.EVENT, tenant="t", context="c", name="n", subtype="note", domain="general", created_at=AT
)
_WORDS = "the harbour was quiet and the berths were empty when the old crane began to turn against the wind "


def concept(subtype: str, name: str) -> Node:
    return replace(_PLAIN, uid=make_uid(subtype, name), label=Label.CONCEPT, subtype=subtype, name=name)


def edge(kind: str, source: str, target: str) -> Edge:
    ends = (source, target)
    return Edge(
        id=edge_id(kind, *ends), type=kind, source=source, target=target, weight=1, created_at=AT, created_by="b"
    )


def item(number: int, shaped: bool) -> tuple[list[Node], list[Edge]]:
    uid = make_uid("item", str(number))
    passage = chunk_uid(uid, 0)
    text = f"Number {number}: {_WORDS * 5}"
    at = AT + timedelta(seconds=number)
    source = f"notes/{number % 1000}.md" if shaped else None
    event = replace(_PLAIN, uid=uid, qdrant_id=passage, content_hash="h", source=source, timestamp=at, arrival=number)
    chunk = replace(_PLAIN, uid=passage, label=Label.CHUNK, text=text, flow_step=0, qdrant_id=passage)
    tags = [make_uid("tag", f"tag {number % 100}"), make_uid("bucket", f"bucket {number % 10}")] if shaped else []
    return [event, chunk], [edge("EVIDENCED_BY", uid, passage), *(edge("TAGGED", uid, tag) for tag in tags)]


async def put(graph: SqliteGraphStore, nodes: Sequence[Node], edges: Sequence[Edge] = ()) -> None:
    async def work(transaction: GraphTransaction) -> None:
        await transaction.put_nodes(nodes)
        await transaction.put_edges(edges)

    await graph.write("t", "c", work)


async def measured(what: str, work: Awaitable[object]) -> None:
    began = time.perf_counter()
    done = await work
    print(f"{what:<40} {time.perf_counter() - began:8.2f} s   {done}", flush=True)


async def run(items: int, shaped: bool, rest: float, folder: Path) -> None:
    with DataDir(folder / "store") as data_dir:
        graph = SqliteGraphStore(data_dir, EdgeRegistry.with_core_types())
        await put(
            graph,
            [concept("tag", f"tag {n}") for n in range(100)] + [concept("bucket", f"bucket {n}") for n in range(10)],
        )
        for start in range(0, items, PAGE):
            drawn = [item(number, shaped) for number in range(start, min(start + PAGE, items))]
            await put(graph, [n for nodes, _ in drawn for n in nodes], [e for _, edges in drawn for e in edges])
        print(f"{items} items, {'of many sources, tagged' if shaped else 'of one source, untagged'}")
        mirror = Mirror(graph, folder / "mirror", "t")
        await measured("build", mirror.build())
        await asyncio.sleep(rest)
        await measured("sync, nothing changed", mirror.sync())
        await put(graph, *item(items, shaped))
        await measured("sync, one item added", mirror.sync())
        await graph.close()


def main() -> None:
    items = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    rest = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0
    for shaped in (True, False):
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(run(items, shaped, rest, Path(folder)))


if __name__ == "__main__":
    main()
