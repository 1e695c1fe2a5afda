"""Who asks while visible passages wait for their vectors is told so, on each pair of stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from support.stores.pairs import Side, asked_for
from vicw_retrieval.search.waiting_passages import PENDING
from vicw_shared.wire.answer_format import PENDING_LINE


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


async def is_told(side: Side, tenant: str = "t", **fields: Any) -> bool:
    answer = await side.retrieve({"query": "Where is the boat?"} | fields, tenant)
    assert (PENDING in answer.degraded) == (PENDING_LINE in answer.text)
    return PENDING in answer.degraded


async def test_only_a_question_in_whose_scope_something_waits_is_told(side: Side) -> None:
    await side.ingest({"context": "dry", "items": [{"id": "a", "text": "The boat is in the shed."}]}, "t", None)
    await side.indexer.drain()
    assert not await is_told(side)
    late = {"id": "b", "text": "The boat is at the quay.", "tags": ["boats"]}
    await side.ingest({"context": "wet", "items": [late]}, "t", None)
    assert await is_told(side)
    assert await is_told(side, context="wet")
    assert await is_told(side, tags={"any": ["boats"]})
    assert not await is_told(side, context="dry")
    assert not await is_told(side, tags={"none": ["boats"]})
    assert not await is_told(side, domain="coding")
    assert not await is_told(side, "another tenant", context="wet")
    await side.retract({"context": "wet", "ids": ["b"]}, "t")
    assert not await is_told(side)
    await side.ingest({"context": "wet", "items": [late | {"id": "c"}]}, "t", None)
    assert await is_told(side)
    await side.indexer.drain()
    assert not await is_told(side)


async def test_a_waiting_passage_is_not_told_of_to_a_viewer_who_may_not_see_it(side: Side) -> None:
    secret = {"id": "s", "text": "Ana hid the boat.", "sensitivity": "personal", "about": ["Ana"]}
    await side.ingest({"context": "wet", "items": [secret]}, "t", None)
    assert await is_told(side, viewer={"user": "Ana"})
    assert not await is_told(side, viewer={"user": "Bo"})
    public = {"id": "p", "text": "Bo found the boat."}
    await side.ingest({"context": "wet", "items": [public]}, "t", None)
    assert await is_told(side, viewer={"user": "Bo"})
