"""Random extractions leave the platform's stores clean, as they do the embedded ones, which get far more of them."""

from __future__ import annotations

from typing import Any

import pytest

from support.generators.example_count import TIMES
from support.generators.extractions import ingest_random_extractions
from support.servers.neo4j.server import Neo4jServer
from support.stores.pairs import platform
from support.stores.qdrant import server_if_any

COUNT = 500 * TIMES
_AT_ONCE = 100
"""Requests between two rounds of the indexer, which then reads passages of items that have been replaced."""

pytestmark = [pytest.mark.servers, pytest.mark.timeout(900)]


async def test_random_extractions_leave_the_stores_clean(
    request: pytest.FixtureRequest, neo4j_server: Neo4jServer
) -> None:
    async with platform(neo4j_server, server_if_any(request)) as side:
        sent = 0

        async def ingest(items: list[dict[str, Any]], extract: str) -> None:
            nonlocal sent
            sent += 1
            if sent % _AT_ONCE == 0:
                await side.indexer.drain()
            await side.ingest({"context": "ctx", "items": items, "extract": extract}, "t", None)

        await ingest_random_extractions(COUNT, side.graph, ingest)
        await side.indexer.drain()
        report = await side.check()
        assert (report.violations, report.waiting) == ([], 0)
