"""No string of a caller is anything but a string, whatever field it is in."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from support.stores.graph_records import AT, edge, node
from vicw_shared.errors import UnknownTypeError
from vicw_shared.model import Edge, Label
from vicw_shared.ports import Audience, Direction, GraphTransaction, Nodes, Receipt, Scope
from vicw_shared.uids import edge_id, make_uid
from vicw_stores.neo4j import Neo4jGraphStore

HOSTILE = [
    "'; MATCH (n) DETACH DELETE n; //",
    '"}) RETURN 1 //',
    "` DETACH DELETE n //",
    "$uids {a: 1} \\u0027 \\",
    '+tenant_key:* OR "x" AND NOT (y) ~2 ^9 /re/ [a TO b] && || !',
    "名前\u202e\u200b\U0001f98a e\u0301",
    "\n\t\r\x01\x7f",
    "x" * 512,
    "\U0001f98a" * 512,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
async def test_hostile_strings_in_every_node_field_round_trip(graph: Neo4jGraphStore, text: str) -> None:
    tenant = context = text
    names: dict[str, Any] = {"tenant": tenant, "context": context, "name": text, "subtype": text, "domain": text}
    fields: dict[str, Any] = {"title": text, "speaker": text, "source": text, "source_id": text, "bucket": text}
    item = replace(
        node("i", Label.EVENT),
        **names,
        **fields,
        text=text,
        content_hash=text,
        tags=(text,),
        metadata={text: text},
        flow_id=text,
        flow_step=1,
        arrival=1,
        timestamp=AT,
        qdrant_id=make_uid("k"),
    )
    chunk, whom, root, tag = (
        replace(node(name, label), **names)
        for name, label in (("k", Label.CHUNK), ("p", Label.ENTITY), ("c", Label.CONTEXT), ("g", Label.CONCEPT))
    )
    chunk = replace(chunk, text=text)
    told = Edge(
        id=edge_id("RELATED_TO", item.uid, whom.uid),
        type="RELATED_TO",
        source=item.uid,
        target=whom.uid,
        weight=0.5,
        created_at=AT,
        created_by=text,
        properties={"item": text, "desc": text, text: text},
    )
    edges = [edge("EVIDENCED_BY", "i", "k"), edge("ABOUT", "i", "p"), edge("TAGGED", "i", "g"), told]

    async def work(transaction: GraphTransaction) -> None:
        await transaction.put_nodes([item, chunk, whom, root, tag])
        await transaction.put_edges(edges)
        await transaction.put_receipt(Receipt(text, text, AT, {text: text}))
        await transaction.forget_receipts(AT, limit=9)
        assert await transaction.receipt(text) == Receipt(text, text, AT, {text: text})
        assert await transaction.items([text]) == {text: item}
        assert (await transaction.counters([text])).flow_steps == {text: 1}
        assert await transaction.edges_from_items([text]) == [told]
        (gap,) = await transaction.gaps(text, [(1, 0, 0, 0)])
        assert (gap.before, gap.after) == (None, item.uid)

    await graph.write(tenant, context, work)
    assert await graph.nodes(tenant, [item.uid, text]) == {item.uid: item}
    assert await graph.texts(tenant, [item.uid, text]) == {item.uid: text}
    assert await graph.contexts(tenant) == [root]
    (hop,) = await graph.expand(tenant, [item.uid, text], [("ABOUT", Direction.OUT)], 5)
    assert hop.node == whom
    (point,) = await graph.outbox.claim(5, seconds=30)
    assert (point.item, point.chunk, point.about) == (item, chunk, (text, whom.uid))
    await graph.outbox.postpone([point], seconds=30, error=text)
    (failure,) = await graph.outbox.failures(tenant, 5)
    assert failure.error == text
    scope = Scope(
        tenant=tenant,
        now=AT + timedelta(days=1),
        contexts=(context, text),
        domains=(text,),
        audience=Audience(identities=(text,), context=text),
    )
    hits = await graph.find(scope, text, 5)
    assert {hit.uid for hit in hits} <= {chunk.uid}
    assert await graph.find(Scope(tenant="other", now=AT), text, 5) == []
    assert sum([len(await graph.scan(Nodes(label), limit=100)) for label in Label]) == 5


async def test_a_hostile_edge_type_name_is_not_executed_as_cypher(graph: Neo4jGraphStore) -> None:
    hostile = "ABOUT]-() DETACH DELETE n //"
    uid = make_uid("a")

    async def work(transaction: GraphTransaction) -> None:
        await transaction.put_nodes([node("a"), node("b")])
        await transaction.put_edges([edge("ABOUT", "a", "b")])
        assert await transaction.edges([uid], [hostile]) == []
        await transaction.drop_edges([edge(hostile, "a", "b")])
        with pytest.raises(UnknownTypeError, match="is not registered"):
            await transaction.put_edges([edge(hostile, "a", "b")])

    await graph.write("t", "c", work)
    assert await graph.expand("t", [uid], [(hostile, Direction.OUT)], 5) == []
    assert len(await graph.expand("t", [uid], [("ABOUT", Direction.OUT)], 5)) == 1
