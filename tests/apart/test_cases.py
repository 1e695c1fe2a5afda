"""The cases of this repository over HTTP, on the separate services over Neo4j and Qdrant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from support.processes.platform import Platform
from vicw_bench.cases.model import load_cases
from vicw_bench.cases.run import lines_of
from vicw_bench.cases.service import replay

CASES = Path(__file__).parents[1] / "bench/data/cases"

pytestmark = [pytest.mark.process, pytest.mark.timeout(900)]


async def test_every_case_is_right(platform: Platform) -> None:
    platform.worker().start()  # it works off erasures
    options: dict[str, Any] = {"headers": platform.headers, "timeout": 90.0, "trust_env": False}
    async with (
        httpx.AsyncClient(base_url=platform.ingest.url, **options) as ingest,
        httpx.AsyncClient(base_url=platform.retrieval.url, **options) as retrieval,
    ):
        outcomes = [outcome async for outcome in replay(load_cases(CASES), ingest, retrieval)]
    wrong = [line for one in outcomes if not one.right for line in lines_of(one)]
    assert not wrong, "\n".join(wrong)
