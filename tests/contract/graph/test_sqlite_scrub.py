"""Scrubbing of the graph's file while others read and write it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from support.stores.memory import open_memory
from vicw_ingest.erasure.eraser import Eraser
from vicw_ingest.erasure.selection import choose_items
from vicw_shared.ports import GraphTransaction

_SECRET = "Quirin keeps the vermilion lockbox under the third stair."


def _files_with_secret(folder: Path) -> list[str]:
    return [path.name for path in folder.glob("graph.sqlite3*") if b"vermilion" in path.read_bytes()]


async def test_scrubbing_waits_for_an_open_transaction_and_removes_every_byte(store: Path) -> None:
    async with open_memory(store) as memory:
        await memory.ingest({"id": "s", "text": _SECRET}, {"id": "n", "text": "The harbour is old."})
        graph = memory.standalone.graph
        eraser = Eraser(graph, memory.standalone.indexes, memory.standalone.registry)
        await eraser.run(await eraser.begin(await choose_items(graph, "default", ["s"], None)))
        begun, over = asyncio.Event(), asyncio.Event()

        async def change(transaction: GraphTransaction) -> None:
            begun.set()
            await asyncio.sleep(0.2)
            await transaction.items(["n"])
            over.set()

        changing = asyncio.create_task(graph.write("default", "ctx", change))
        await begun.wait()
        await graph.erasures.scrub()
        assert over.is_set(), "the transaction had its turn first"
        await changing
        assert _files_with_secret(store) == []
        assert await memory.found("What is old?") == ["n"]


async def test_the_count_of_erasures_survives_a_transaction_that_fails_beside_it(store: Path) -> None:
    async with open_memory(store) as memory:
        graph = memory.standalone.graph
        begun = asyncio.Event()

        async def fail(_: GraphTransaction) -> None:
            begun.set()
            await asyncio.sleep(0.1)
            raise RuntimeError("it fails")

        failing = asyncio.create_task(graph.write("default", "ctx", fail))
        await begun.wait()
        await graph.erasures.count_erasure()
        await asyncio.wait({failing})
        assert failing.exception() is not None
        assert await graph.erasures.erased() == 1


async def test_scrubbing_waits_for_a_snapshot_but_lets_writes_go_on(store: Path) -> None:
    async with open_memory(store) as memory:
        await memory.ingest({"id": "s", "text": _SECRET}, {"id": "n", "text": "The harbour is old."})
        graph = memory.standalone.graph
        eraser = Eraser(graph, memory.standalone.indexes, memory.standalone.registry)
        async with graph.archive.snapshot() as snapshot:
            await eraser.run(await eraser.begin(await choose_items(graph, "default", ["s"], None)))
            scrubbing = asyncio.create_task(graph.erasures.scrub())
            await asyncio.sleep(0.5)
            await memory.ingest({"id": "new", "text": "The bridge is new."})
            assert not scrubbing.done(), "the snapshot still needs what was erased"
            assert len(await snapshot.roots()) == 1
        await scrubbing
        assert _files_with_secret(store) == []
        assert await memory.found("What is new?")
