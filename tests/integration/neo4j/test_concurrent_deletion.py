"""What others remove while a statement reads: Neo4j has found it by then, and reads no properties of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sized
from datetime import timedelta
from typing import Any

import pytest

from support.stores.graph_records import AT, edge, node, put
from vicw_shared.model import EdgeRegistry, Label
from vicw_shared.ports import Direction, Flow, FlowEvents, NamedNodes, NameMatch, Nodes, Passages, look_up
from vicw_shared.uids import make_uid
from vicw_stores.neo4j import Neo4jGraphStore
from vicw_stores.neo4j.database import Neo4jDatabase

A, C = make_uid("a"), make_uid("c")
HOUR = timedelta(hours=1)


@pytest.mark.parametrize("spreads", [1, 9])
@pytest.mark.parametrize("gone", ["node", "edge"])
async def test_expand_leaves_out_nodes_and_edges_deleted_during_the_read(
    graph: Neo4jGraphStore, monkeypatch: pytest.MonkeyPatch, gone: str, spreads: int
) -> None:
    types = [edge_type.name for edge_type in EdgeRegistry.with_core_types() if edge_type.name != "RELATED_TO"]
    along = [(name, Direction.OUT) for name in ["RELATED_TO", *types][:spreads]]
    await put(graph, [node("a"), node("b"), node("c")], [edge("RELATED_TO", "a", "b"), edge("RELATED_TO", "a", "c")])
    read = Neo4jDatabase.read

    async def meanwhile(database: Neo4jDatabase, query: str, **values: Any) -> Any:
        """Read as if ``c``, or the edge to it, went between two steps of the statement."""
        (record,) = await read(database, query, **values)
        rows, nodes = [dict(row) for row in record["rows"]], [dict(row) for row in record["nodes"]]
        for row in rows:
            row["edge"] = {} if gone == "edge" and row["uid"] == make_uid("c") else row["edge"]
        kept = [{} if gone == "node" and row["uid"] == make_uid("c") else row for row in nodes]
        return [{**record, "rows": rows, "nodes": kept}]

    with monkeypatch.context() as busy:
        busy.setattr(Neo4jDatabase, "read", meanwhile)
        found = await graph.expand("t", [make_uid("a")], along, 9)
    assert [one.node.name for one in found] == ["b"]
    assert len(await graph.expand("t", [make_uid("a")], along, 9)) == 2


READS: dict[str, Callable[[Neo4jGraphStore], Awaitable[Sized]]] = {
    "nodes": lambda graph: graph.nodes("t", [A, C]),
    "texts": lambda graph: graph.texts("t", [A, C]),
    "owners": lambda graph: graph.owners("t", [make_uid("proof of a"), make_uid("proof of c")]),
    "leads": lambda graph: graph.weighted_neighbours("t", [A, C], ("EVIDENCED_BY", Direction.OUT), 9),
    "whole": lambda graph: graph.item_views("t", [A, C]),
    "find_names": lambda graph: look_up(graph, "t", ["a", "c"], limit=9, by=NameMatch.TITLE),
    "page": lambda graph: graph.scan(Nodes(Label.ENTITY), limit=9),
    "passages": lambda graph: graph.scan(Passages(), limit=9),
}
PLACED: dict[str, Callable[[Neo4jGraphStore], Awaitable[Sized]]] = {
    "flow": lambda graph: graph.scan(FlowEvents(Flow("t", "c", "flow")), limit=9),
    "between": lambda graph: graph.between("t", AT - HOUR, AT + HOUR, contexts=["c"], limit=9),
    "expired": lambda graph: graph.expired(AT + HOUR, limit=9),
    "triggered": lambda graph: graph.triggered("t", ["phrase"], limit=9),
    "worded": lambda graph: graph.by_text_key("t", ["a", "c"], limit=9),
    "list_named": lambda graph: graph.scan(NamedNodes(tenant="t", context="c"), limit=9),
}


def without_properties(value: Any, gone: Collection[str]) -> Any:
    """Return what a statement reads if these nodes go when it has found them: they have no properties then."""
    if isinstance(value, Mapping):
        if {str(value.get("uid")), str(value.get("chunk"))} & set(gone):
            return {name: given if name in ("origin", "text") else None for name, given in value.items()}
        return {name: without_properties(one, gone) for name, one in value.items()}
    return [without_properties(one, gone) for one in value] if isinstance(value, list) else value


def delete_during_reads(monkeypatch: pytest.MonkeyPatch, gone: Collection[str]) -> None:
    """Have every statement read as if these nodes went when it has found them."""
    own = Neo4jDatabase.read

    async def meanwhile(database: Neo4jDatabase, query: str, **values: Any) -> Any:
        return [without_properties(dict(record), gone) for record in await own(database, query, **values)]

    monkeypatch.setattr(Neo4jDatabase, "read", meanwhile)


@pytest.mark.parametrize("read", READS)
async def test_node_reads_leave_out_nodes_deleted_during_the_read(
    graph: Neo4jGraphStore, monkeypatch: pytest.MonkeyPatch, read: str
) -> None:
    items = [node(n, text=n, title=n, content_hash="h", qdrant_id=make_uid(f"proof of {n}")) for n in "ac"]
    proofs = [node(f"proof of {n}", Label.CHUNK, text=n) for n in "ac"]
    await put(graph, [*items, *proofs], [edge("EVIDENCED_BY", n, f"proof of {n}") for n in "ac"])
    assert len(await READS[read](graph)) == 2
    delete_during_reads(monkeypatch, {C, make_uid("proof of c")})
    assert len(await READS[read](graph)) == 1


@pytest.mark.parametrize("read", PLACED)
async def test_reads_by_position_or_key_leave_out_nodes_deleted_meanwhile(
    graph: Neo4jGraphStore, monkeypatch: pytest.MonkeyPatch, read: str
) -> None:
    places: dict[str, Any] = {"timestamp": AT, "expires_at": AT, "flow_id": "flow", "trigger_phrases": ("phrase",)}
    steps = [{"flow_step": number, "arrival": number} for number in (1, 2)]
    events = [
        node(n, Label.EVENT, text=n, text_key=n, content_hash="h", source_id=n, **places, **step)
        for n, step in zip("ac", steps, strict=True)
    ]
    await put(graph, [*events, node("thing a"), node("thing c")])
    assert len(await PLACED[read](graph)) == 2
    delete_during_reads(monkeypatch, {C, make_uid("thing c")})
    assert len(await PLACED[read](graph)) == 1


async def test_a_scanned_passage_leaves_out_a_statement_deleted_meanwhile(
    graph: Neo4jGraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = [node(f"said {n}", Label.EVENT, text=n, qdrant_id=make_uid(f"said {n}")) for n in "ac"]
    item = node("a", text="a", content_hash="h", qdrant_id=make_uid("proof of a"))
    proof = node("proof of a", Label.CHUNK, text="a")
    ends = ["a", "said a", "said c"]
    await put(graph, [item, proof, *said], [edge("EVIDENCED_BY", one, "proof of a") for one in ends])
    delete_during_reads(monkeypatch, {make_uid("said c")})
    (point,) = await graph.scan(Passages(), limit=9)
    assert [one.name for one in point.statements] == ["said a"]
