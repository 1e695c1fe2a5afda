"""Both pairs of stores find the same by words, in twelve languages, and each finds what it must."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from support.answers.word_queries import WAYS, ask, compare, fill, word_queries
from support.stores.pairs import Side, asked_for, embedded

AGREEING = 118


@pytest.fixture
async def ours(store: Path) -> AsyncIterator[Side]:
    async with embedded(store) as side:
        await fill(side)
        yield side


@pytest.mark.parametrize("way", ["bm25", "fulltext"])
async def test_every_word_query_finds_its_document(ours: Side, way: str) -> None:
    queries = word_queries()
    assert (len(queries), len({query.language for query in queries})) == (120, 12)
    missed = [one for one in queries if one.relevant not in await ask(ours, one.query, way)]
    assert missed == []


@pytest.mark.parametrize("theirs", [pytest.param("platform", marks=pytest.mark.servers)], indirect=True)
async def test_both_stores_have_the_same_first_results(ours: Side, theirs: Side) -> None:
    await fill(theirs)
    for way in WAYS:
        agreement = await compare(ours, theirs, way)
        print(f"{way}: {agreement.count} of {len(agreement.queries)}", *agreement.differing, sep="\n")
        assert agreement.count >= AGREEING, way
        assert agreement.missed == [], way


@pytest.fixture
async def theirs(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with AsyncExitStack() as stack:
        yield await stack.enter_async_context(asked_for(request, store))
