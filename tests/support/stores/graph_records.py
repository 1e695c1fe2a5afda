"""What the contract tests of the graph put into one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from vicw_shared.model import Edge, Label, Node
from vicw_shared.ports import GraphTransaction, Store
from vicw_shared.uids import edge_id, make_uid

Graph = Store
"""What the tests are of: every adapter."""

AT = datetime(2025, 1, 1, 12, 0, 0, 123456, tzinfo=UTC)


def node(name: str, label: Label = Label.ENTITY, **fields: object) -> Node:
    base = Node(
        uid=make_uid(name), label=label, tenant="t", context="c", name=name, subtype="s", domain="d", created_at=AT
    )
    return replace(base, **fields)  # type: ignore[arg-type]


def edge(edge_type: str, source: str, target: str, weight: float = 0.5, by: str = "test") -> Edge:
    a, b = make_uid(source), make_uid(target)
    return Edge(
        id=edge_id(edge_type, a, b),
        type=edge_type,
        source=a,
        target=b,
        weight=weight,
        created_at=AT,
        created_by=by,
        properties={"certainty": 0.5},
    )


async def put(graph: Graph, nodes: Sequence[Node], edges: Sequence[Edge] = (), tenant: str = "t") -> None:
    async def work(transaction: GraphTransaction) -> None:
        await transaction.put_nodes(nodes)
        await transaction.put_edges(edges)

    await graph.write(tenant, "c", work)
