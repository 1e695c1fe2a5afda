"""What a check has to find on Neo4j alone: an Event's place in a chain is a property there, and may be wrong."""

from __future__ import annotations

from datetime import timedelta

import pytest

from support.servers.neo4j.server import Neo4jServer
from support.stores.graph_records import AT, edge, node, put
from vicw_shared.model import Label
from vicw_shared.model.chain import HAPPENED_AFTER, NEXT
from vicw_shared.ports import Nodes
from vicw_stores.neo4j import Neo4jGraphStore


@pytest.mark.parametrize(("chain", "place"), [(NEXT, "flow_at"), (HAPPENED_AFTER, "clock_at")])
@pytest.mark.parametrize("change", ["REMOVE n.{0}", "SET n.{0} = left(n.{0}, 37) + '0'", "SET n.{0} = 'z'"])
async def test_audit_reports_an_event_with_a_wrong_chain_position(
    graph: Neo4jGraphStore, server: Neo4jServer, chain: str, place: str, change: str
) -> None:
    events = [
        node(name, Label.EVENT, flow_id="f", flow_step=n, arrival=n, timestamp=AT + timedelta(seconds=n))
        for n, name in enumerate("abc", 1)
    ]
    edges = [edge(NEXT, *ends) for ends in ("ab", "bc")] + [edge(HAPPENED_AFTER, *ends) for ends in ("ba", "cb")]
    await put(graph, events, edges)
    assert not any(link.misplaced for link in (await graph.audit.chain_links(chain, events)).values())
    with server.driver() as driver, driver.session() as session:
        session.run(f"MATCH (n:Event {{uid: $uid}}) {change.format(place)}", uid=events[2].uid).consume()
    told = await graph.audit.chain_links(chain, events)
    assert [event.name for event in events if told[event.uid].misplaced] == ["c"]


async def test_audit_reports_a_retired_event_with_a_chain_position(graph: Neo4jGraphStore, server: Neo4jServer) -> None:
    event = node("a", Label.EVENT, flow_id="f", flow_step=1, arrival=1, timestamp=AT)
    await put(graph, [event])
    with server.driver() as driver, driver.session() as session:
        session.run("MATCH (n:Event {uid: $uid}) SET n.retired_at = 1", uid=event.uid).consume()
    (found,) = await graph.scan(Nodes(Label.EVENT), limit=1)
    assert (await graph.audit.chain_links(NEXT, [found]))[event.uid].misplaced
