"""``kill -9`` of a process that converts the words of an earlier build's store: the next one goes on where it was."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from earlier.make import STORE, recorded, unpack
from earlier.questions import differences, look_at, unconverted
from vicw_core.index.conversion import WordConversion
from vicw_shared.ports import SparseVector, VectorStore
from vicw_stores.sqlite.stored_words import read_converted

TESTS = Path(__file__).parents[2]
EARLIER = TESTS / "earlier" / "schema_22"
STALLED = b"the page is not recorded yet\n"
PAGE, PAGES = 8, 4
"""Passages of a page, and how many pages have their vectors when the process is killed: the last not yet its words."""


class Stalling:
    """The vectors of a store, which never return from the page of this number (None: from all pages)."""

    def __init__(self, vectors: VectorStore, page: int | None = None) -> None:
        self._vectors = vectors
        self._page = page
        self.pages: list[set[str]] = []

    async def set_sparse(self, vectors: Mapping[str, SparseVector]) -> None:
        await self._vectors.set_sparse(vectors)
        self.pages.append(set(vectors))
        if len(self.pages) == self._page:
            print(STALLED.decode(), end="", flush=True)
            await asyncio.Event().wait()


async def convert(store: Path, page: int | None = None) -> list[set[str]]:
    """Convert a store, or a part of it; return the passages of each page."""
    async with unconverted(store) as standalone:
        vectors = await standalone.indexes.open_vectors()
        assert vectors is not None
        stalling = Stalling(vectors, page)

        async def open_vectors() -> Stalling:
            return stalling

        await WordConversion(standalone.graph, open_vectors, standalone.indexes.refresh, page=PAGE).run()  # type: ignore[arg-type]
        return stalling.pages


@pytest.mark.process
async def test_a_conversion_that_is_killed_is_finished_by_the_next_process(store: Path) -> None:
    earlier = store.parent / "earlier"
    unpack(EARLIER / STORE, earlier)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        __file__,
        str(earlier),
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(120):
            while (line := await process.stdout.readline()) != STALLED:
                assert line, "the process ended by itself"
    finally:
        process.kill()
        await process.communicate()
    assert process.returncode == -signal.SIGKILL
    with closing(sqlite3.connect(earlier / "graph.sqlite3")) as connection:
        (count,) = connection.execute("SELECT count(*) FROM node WHERE label = 'Chunk'").fetchone()
        place = read_converted(connection)
    assert place, "some pages are recorded, not all"

    pages = await convert(earlier)
    assert sum(map(len, pages)) <= count - (PAGES - 1) * PAGE, "what was recorded is not converted again"
    assert min(set().union(*pages)) > place
    then, now = recorded(EARLIER)["store"], await look_at(earlier)
    assert now["holds"]["violations"] == []
    assert differences(then["answers"], now["answers"], restored=False) == {}


if __name__ == "__main__":
    asyncio.run(convert(Path(sys.argv[1]), PAGES))
