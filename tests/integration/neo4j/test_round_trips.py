"""Reads of a question are one statement each, which is one round trip, and what fails for now is tried again."""

from __future__ import annotations

from typing import Any

import pytest
from neo4j import AsyncSession
from neo4j.exceptions import ClientError, ServiceUnavailable

from support.servers.neo4j.server import Neo4jServer
from support.stores.graph_records import edge, node, put
from support.stores.neo4j import empty_neo4j, open_neo4j
from vicw_shared.errors import UnavailableError
from vicw_shared.ports import Direction, NameMatch, NameQuery
from vicw_shared.uids import make_uid

A, B = make_uid("a"), make_uid("b")
SPREADS = [(name, way) for name in ("NEXT", "CAUSED", "MENTIONS", "TAGGED") for way in Direction]


async def test_each_read_is_one_round_trip(neo4j_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch) -> None:
    empty_neo4j(neo4j_server)
    asked: list[object] = []
    run = AsyncSession.run

    async def count(self: AsyncSession, *args: Any) -> object:
        asked.append(args)
        return await run(self, *args)

    monkeypatch.setattr(AsyncSession, "run", count)
    async with open_neo4j(neo4j_server) as graph:
        await put(graph, [node("a"), node("b")], [edge("NEXT", "a", "b")])
        queries = [NameQuery(by, ("a",)) for by in (NameMatch.NAME, NameMatch.BEGINNING, NameMatch.TITLE)]
        asked.clear()
        reads = (
            graph.nodes("t", [A, B]),
            graph.texts("t", [A]),
            graph.owners("t", [A]),
            graph.expand("t", [A, B], SPREADS, 5),
            graph.weighted_neighbours("t", [A], SPREADS[0], 5),
            graph.find_names("t", queries),
            graph.triggered("t", ["a"], limit=3),
        )
        for number, read in enumerate(reads, start=1):
            await read
            assert len(asked) == number


async def test_transient_read_errors_are_retried_and_others_are_not(
    neo4j_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object) -> object:
        raise ServiceUnavailable("the connection was closed")

    async def wrong(*_: object) -> object:
        raise ClientError("no such thing")

    empty_neo4j(neo4j_server)
    async with open_neo4j(neo4j_server) as graph:
        await put(graph, [node("a")])
        monkeypatch.setattr(AsyncSession, "run", away)
        assert set(await graph.nodes("t", [A])) == {A}
        monkeypatch.setattr(AsyncSession, "run", wrong)
        with pytest.raises(UnavailableError):
            await graph.nodes("t", [A])
