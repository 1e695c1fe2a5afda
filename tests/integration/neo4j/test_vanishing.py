"""What others remove while a statement reads: Neo4j has found it by then, and reads no properties of it."""

from __future__ import annotations

from typing import Any

import pytest

from contract.graphs import edge, node, put
from vicw_shared.adapters.neo4j import Neo4jGraphStore
from vicw_shared.adapters.neo4j.database import Database
from vicw_shared.model import EdgeRegistry
from vicw_shared.ports import Direction
from vicw_shared.uids import make_uid


@pytest.mark.parametrize("spreads", [1, 9])
@pytest.mark.parametrize("gone", ["node", "edge"])
async def test_what_goes_while_it_is_read_is_left_out(
    graph: Neo4jGraphStore, monkeypatch: pytest.MonkeyPatch, gone: str, spreads: int
) -> None:
    types = [edge_type.name for edge_type in EdgeRegistry.with_core_types() if edge_type.name != "RELATED_TO"]
    along = [(name, Direction.OUT) for name in ["RELATED_TO", *types][:spreads]]
    await put(graph, [node("a"), node("b"), node("c")], [edge("RELATED_TO", "a", "b"), edge("RELATED_TO", "a", "c")])
    read = Database.read

    async def meanwhile(database: Database, query: str, **values: Any) -> Any:
        """Read as if ``c``, or the edge to it, went between two steps of the statement."""
        (record,) = await read(database, query, **values)
        rows, nodes = [dict(row) for row in record["rows"]], [dict(row) for row in record["nodes"]]
        for row in rows:
            row["edge"] = {} if gone == "edge" and row["uid"] == make_uid("c") else row["edge"]
        kept = [{} if gone == "node" and row["uid"] == make_uid("c") else row for row in nodes]
        return [{**record, "rows": rows, "nodes": kept}]

    with monkeypatch.context() as busy:
        busy.setattr(Database, "read", meanwhile)
        found = await graph.expand("t", [make_uid("a")], along, 9)
    assert [one.node.name for one in found] == ["b"]
    assert len(await graph.expand("t", [make_uid("a")], along, 9)) == 2
