"""Dates with slashes are read in the order that the tenant's texts show, on both pairs of stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from support.stores.pairs import Side, asked_for

MAY = "What did I do on 3/5/2025?"


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


async def tell(side: Side, tenant: str, text: str, at: str = "2025-06-02T12:00:00Z", context: str = "c") -> None:
    item = {"id": text, "text": text, "speaker": "Nils", "timestamp": at}
    await side.ingest({"context": context, "items": [item], "extract": "rules"}, tenant, None)
    await side.indexer.drain()


async def start_of(side: Side, tenant: str, query: str) -> str:
    answer = await side.retrieve({"query": query, "query_time": "2025-12-01T12:00:00Z"}, tenant)
    assert answer.degraded == ()
    assert answer.time is not None
    assert answer.time.start is not None
    return answer.time.start.date().isoformat()


async def test_a_tenants_texts_show_the_order_of_day_and_month(side: Side) -> None:
    await tell(side, "european", "The rent was paid on 28/4/2025.", context="another")
    await tell(side, "american", "The rent was paid on 4/28/2025.")
    assert await start_of(side, "european", MAY) == "2025-05-03"
    assert await start_of(side, "american", MAY) == "2025-03-05"
    assert await start_of(side, "nobody", MAY) == "2025-03-05", "the month first in English"
    assert await start_of(side, "european", "What did I do on 3/14/2025?") == "2025-03-14", "it has one order only"


async def test_what_is_stored_afterwards_is_read_in_that_order(side: Side) -> None:
    await tell(side, "t", "Der Zaun kam am 28.4.2025.")
    await tell(side, "t", "We painted the gate on 3/5/2025.")
    answer = await side.retrieve({"query": "What happened on May 3, 2025?"}, "t")
    assert answer.results[0].id == "We painted the gate on 3/5/2025."
    assert answer.time is not None
    assert answer.time.items == (answer.results[0].uid,)
