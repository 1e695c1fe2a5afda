"""The schema on a server: made once however many start at once, versioned, and of five labels only."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from support.servers.neo4j.server import Neo4jServer
from support.stores.graph_records import AT, edge, node, put
from support.stores.neo4j import empty_neo4j, open_neo4j
from vicw_core.filters.metadata_terms import value_term
from vicw_shared.errors import SchemaVersionError, UnavailableError
from vicw_shared.model import EdgeRegistry, Label
from vicw_shared.ports import Edges, GraphTransaction, ModelIdentity, Nodes, Receipt, scan_pages
from vicw_shared.ports.item_filter import Between, OneOf, Present
from vicw_shared.uids import make_uid
from vicw_stores.neo4j import Neo4jGraphStore, schema
from vicw_stores.neo4j.keys import metadata_word

TYPES = [edge_type.name for edge_type in EdgeRegistry.with_core_types()]


def names(server: Neo4jServer, query: str) -> set[Any]:
    with server.driver() as driver, driver.session() as session:
        return {record[0] for record in session.run(query)}


def run(server: Neo4jServer, query: str) -> None:
    with server.driver() as driver, driver.session() as session:
        session.run(query).consume()


@pytest.fixture
def bare(neo4j_server: Neo4jServer) -> Neo4jServer:
    """A server on which nothing is defined."""
    empty_neo4j(neo4j_server, schema=True)
    return neo4j_server


async def test_concurrent_starts_on_an_empty_database_make_one_schema(bare: Neo4jServer) -> None:
    async def start() -> str:
        async with open_neo4j(bare) as graph:
            return await graph.record.store_id()

    stores = await asyncio.gather(*(start() for _ in range(6)))
    assert len(set(stores)) == 1
    assert names(bare, "SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name") == set(
        schema.statements(TYPES)
    )
    assert names(bare, "SHOW INDEXES YIELD state RETURN state") == {"ONLINE"}


async def test_concurrent_starts_do_not_deadlock(bare: Neo4jServer, caplog: pytest.LogCaptureFixture) -> None:
    async def start() -> None:
        async with open_neo4j(bare, retry_seconds=2):
            pass

    with caplog.at_level(logging.WARNING, "neo4j"):
        await asyncio.gather(*(start() for _ in range(6)))
    defining = [record for record in caplog.records if "RELATIONSHIP_TYPE" in record.getMessage()]
    assert not defining


async def test_a_start_waits_out_the_schema_lock_of_a_dead_process(server: Neo4jServer) -> None:
    async with open_neo4j(server):
        pass
    run(server, "DROP INDEX vicw_chunk_tries")
    run(
        server,
        "MATCH (s:Entity {record: 'store'}) SET s.definer = 'dead', s.definer_until = timestamp() * 1000 + 1000000",
    )
    began = time.monotonic()
    async with open_neo4j(server):
        assert time.monotonic() - began > 0.5
    assert "vicw_chunk_tries" in names(server, "SHOW INDEXES YIELD name")


async def test_a_start_outwaits_a_schema_lock_beyond_the_query_timeout(server: Neo4jServer) -> None:
    async with open_neo4j(server) as graph:
        known = await graph.record.store_id()
    run(server, "DROP INDEX vicw_chunk_tries")

    async def start() -> str:
        async with open_neo4j(server, query_seconds=0.3) as graph:
            return await graph.record.store_id()

    with server.driver() as driver, driver.session() as session:
        with session.begin_transaction() as held:
            held.run("MATCH (s:Entity {record: 'store'}) SET s.held = 1").consume()
            starting = asyncio.create_task(start())
            await asyncio.sleep(1.5)
            assert not starting.done()
        assert await starting == known
    assert "vicw_chunk_tries" in names(server, "SHOW INDEXES YIELD name")


async def test_a_store_with_a_newer_schema_is_refused_and_unchanged(server: Neo4jServer) -> None:
    async with open_neo4j(server) as graph:
        known = await graph.record.store_id()
    run(server, "MATCH (s:Entity {record: 'store'}) SET s.schema = 999")
    run(server, "DROP INDEX vicw_chunk_tries")
    with pytest.raises(SchemaVersionError, match="999"):
        async with open_neo4j(server):
            pass
    assert "vicw_chunk_tries" not in names(server, "SHOW INDEXES YIELD name")
    run(server, "MATCH (s:Entity {record: 'store'}) SET s.schema = 7")
    async with open_neo4j(server) as graph:
        assert await graph.record.store_id() == known
    assert "vicw_chunk_tries" in names(server, "SHOW INDEXES YIELD name")


async def test_concurrent_starts_migrate_an_older_store_once(
    server: Neo4jServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_neo4j(server) as graph:
        await put(graph, [node("a")])
    grow = "MATCH (n:Entity) WHERE n.uid > '' SET n.grown = coalesce(n.grown, 0) + 1"
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, (grow,)))

    async def start() -> None:
        async with open_neo4j(server):
            pass

    await asyncio.gather(*(start() for _ in range(4)))
    assert names(server, "MATCH (n:Entity) WHERE n.uid > '' RETURN n.grown") == {1}
    latest = schema.FIRST + len(schema.MIGRATIONS)
    assert names(server, "MATCH (s:Entity {record: 'store'}) RETURN s.schema") == {latest}


async def test_statements_of_an_older_store_are_found_by_the_time_that_they_give(server: Neo4jServer) -> None:
    stated = node("said", Label.EVENT, timestamp=AT)
    root = node("c", Label.CONTEXT, context="c")
    async with open_neo4j(server) as graph:
        await put(graph, [root, stated, node("told", Label.EVENT, timestamp=AT, timestamp_inferred=True)])
    run(server, "MATCH (n:Event) REMOVE n.stated_at")
    run(server, "MATCH (s:Entity {record: 'store'}) SET s.schema = 7")
    async with open_neo4j(server) as graph:
        end = AT + timedelta(seconds=1)
        assert await graph.stated_between("t", AT, end, limit=9) == [stated]


async def test_items_of_an_older_store_are_found_by_their_values(server: Neo4jServer) -> None:
    async with open_neo4j(server) as graph:
        await put(
            graph, [node("a", content_hash="h", metadata={"k": "x y"}), node("b", content_hash="h", speaker="Ana")]
        )
    run(server, "MATCH (n:Event|Entity) REMOVE n.metadata_terms, n.value_words")
    run(server, "MATCH (s:Entity {record: 'store'}) SET s.schema = 8")
    async with open_neo4j(server) as graph:
        for condition in (OneOf("metadata.k", ("x y", 3)), Present("metadata.k"), Between("metadata.k", ("x", True))):
            assert await graph.passing_items("t", condition, 9) == [make_uid("a")]
            assert await graph.passing_items("other", condition, 9) == []
        assert await graph.passing_items("t", OneOf("speaker", ("Ana", "Ben")), 9) == [make_uid("b")]
    word = metadata_word("t", value_term("k", "x y"))
    found = f"CALL db.index.fulltext.queryNodes('vicw_values', '{word}') YIELD node RETURN node.uid"
    assert names(server, found) == {make_uid("a")}


async def test_a_store_of_before_the_first_release_is_refused(server: Neo4jServer) -> None:
    async with open_neo4j(server):
        pass
    run(server, "MATCH (s:Entity {record: 'store'}) SET s.schema = 6")
    with pytest.raises(SchemaVersionError, match=r"before 0\.1\.0"):
        async with open_neo4j(server):
            pass


async def test_a_migration_that_fails_leaves_the_store_as_it_was(
    server: Neo4jServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_neo4j(server) as graph:
        await put(graph, [node("a")])
    spoil = ("MATCH (n:Entity) WHERE n.uid > '' SET n.spoilt = true", "NO SUCH STATEMENT")
    latest = schema.FIRST + len(schema.MIGRATIONS)
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, spoil))
    with pytest.raises(UnavailableError, match="SyntaxError"):
        async with open_neo4j(server):
            pass
    assert names(server, "MATCH (n:Entity) WHERE n.uid > '' RETURN n.spoilt") == {None}
    assert names(server, "MATCH (s:Entity {record: 'store'}) RETURN s.schema") == {latest}


async def test_store_records_use_the_five_labels_and_are_not_scanned(
    graph: Neo4jGraphStore, server: Neo4jServer
) -> None:
    async def work(transaction: GraphTransaction) -> None:
        await transaction.put_receipt(Receipt("key", "print", AT, {"answer": "harbour"}))
        event = node("e", Label.EVENT, arrival=1, flow_id="f", flow_step=1, timestamp=AT, content_hash="h")
        await transaction.put_nodes([node("x"), event, node("k", Label.CHUNK, text="t"), node("c", Label.CONTEXT)])
        await transaction.put_edges([edge("EVIDENCED_BY", "e", "k"), edge("ABOUT", "e", "x")])

    await graph.write("t", "c", work)
    await graph.record.set_model(ModelIdentity("m", 3, "d", 1))
    await graph.outbox.acknowledge(await graph.outbox.claim(10, seconds=1))
    assert names(server, "CALL db.labels()") <= set(Label)
    assert names(server, "MATCH (n) WHERE size(labels(n)) <> 1 RETURN n") == set()
    seen = {label: [found.name for found in await graph.scan(Nodes(label), limit=100)] for label in Label}
    assert seen == {
        Label.CONTEXT: ["c"],
        Label.ENTITY: ["x"],
        Label.EVENT: ["e"],
        Label.CONCEPT: [],
        Label.CHUNK: ["k"],
    }
    assert names(server, "MATCH (n) WHERE n.uid IS NULL RETURN n.subtype") == {
        "store",
        "counter",
        "receipt",
        "outbox",
        "term",
        "term_counts",
    }


async def test_a_lock_leaves_no_context_behind(graph: Neo4jGraphStore, server: Neo4jServer) -> None:
    async def nothing(transaction: GraphTransaction) -> None:
        await transaction.counters([])

    async def fails(transaction: GraphTransaction) -> None:
        raise ZeroDivisionError

    await graph.write("t", "c", nothing)
    with pytest.raises(ZeroDivisionError):
        await graph.write("t", "never", fails)
    assert await graph.contexts("t") == []
    assert len(names(server, "MATCH (n:Entity) WHERE n.subtype = 'counter' RETURN n.record")) == 1


async def test_edges_of_a_type_that_is_no_longer_registered_are_still_audited(
    graph: Neo4jGraphStore, server: Neo4jServer
) -> None:
    await put(graph, [node("a"), node("b")], [edge("DESCRIBES", "a", "b"), edge("ABOUT", "a", "b")])
    fewer = EdgeRegistry(edge_type for edge_type in EdgeRegistry.with_core_types() if edge_type.name != "DESCRIBES")
    async with open_neo4j(server, registry=fewer) as later:
        pages = [found.edge.type async for page in scan_pages(later, Edges(), limit=1) for found in page]
    assert pages == ["ABOUT", "DESCRIBES"]


@pytest.fixture(autouse=True)
def _empty_after_test(neo4j_server: Neo4jServer) -> Iterator[None]:
    """What a test dropped must not be missed by the next."""
    yield
    empty_neo4j(neo4j_server)
