"""The cases of this repository over HTTP, on embedded stores (``tests/apart/test_cases.py``: on servers)."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from support.processes.server import Server
from vicw_bench.cases.model import load_cases
from vicw_bench.cases.run import lines_of
from vicw_bench.cases.service import replay

CASES = Path(__file__).parents[1] / "bench/data/cases"

pytestmark = pytest.mark.process


async def test_every_case_is_right(server: Server) -> None:
    cases = load_cases(CASES)
    assert all(case.judged for case in cases)
    async with httpx.AsyncClient(base_url=server.url, timeout=60, trust_env=False) as client:
        outcomes = [outcome async for outcome in replay(cases, client)]
    assert [line for one in outcomes if not one.right for line in lines_of(one)] == []
