"""The cases of this repository on each pair of stores; those over HTTP are in ``tests/e2e`` and ``tests/apart``."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from support.stores.pairs import Side, asked_for
from vicw_bench.cases.model import Case, load_cases
from vicw_bench.cases.run import lines_of
from vicw_bench.cases.service import replay

CASES = Path(__file__).parents[2] / "bench/data/cases"


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


def is_answered_by_stores(case: Case) -> bool:
    refused = any(right is not None and right.status is not None for right in case.expectations)
    return not refused and {request.path for request in case.requests} <= {"/ingest", "/retrieve"}


async def test_every_case_is_right_on_either_pair_of_stores(side: Side) -> None:
    async def answer(request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        if request.url.path == "/ingest":
            await side.ingest(body, "t", None)
            await side.indexer.drain()
            return httpx.Response(201, json={})
        answered = await side.retrieve(body, "t")
        assert answered.degraded == ()
        return httpx.Response(200, json=answered.model_dump(mode="json"))

    cases = [case for case in load_cases(CASES) if is_answered_by_stores(case)]
    assert cases
    async with httpx.AsyncClient(base_url="http://vicw.test", transport=httpx.MockTransport(answer)) as client:
        outcomes = [outcome async for outcome in replay(cases, client)]
    assert [line for one in outcomes if not one.right for line in lines_of(one)] == []
