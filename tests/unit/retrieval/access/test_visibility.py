"""What a viewer may not see shows nowhere in the graph: not as a node, not by an edge, not by what is missing.

For any graph, the answer to a viewer is the answer of a graph without all that he may not see.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.fast_directory import fast_directory
from support.generators.example_count import TIMES
from support.stores.graph_queries import GraphClient
from vicw_shared.errors import InvalidInputError
from vicw_shared.model import Edge, EdgeRegistry, Label, Node, Sensitivity
from vicw_shared.model.edges import SOURCE_ITEM
from vicw_shared.ports import GraphTransaction
from vicw_shared.text import fold_case
from vicw_shared.uids import context_uid, edge_id, make_uid
from vicw_shared.wire.graph import GraphAnswer
from vicw_stores.data_dir import DataDir
from vicw_stores.sqlite import SqliteGraphStore

AT = datetime(2026, 1, 1, tzinfo=UTC)
REGISTRY = EdgeRegistry.with_core_types()
PEOPLE = ("Ana", "Ben", "Clara", "Ana Souza")
VIEWERS = [
    {"user": "ana", "chat": "private"},
    {"user": "ben", "chat": "group"},
    {"user": "nobody", "chat": "private", "context": "c"},
    {"chat": "group"},
]
_TOLD = ("HAS_RELATIONSHIP", "CAUSED", "RELATED_TO", "INITIATED", "MENTIONS")
_UNTOLD = ("ABOUT", "MENTIONS", "NEXT", "INITIATED", "SUPERSEDES", "IS_PERSON", "MERGED_INTO")


@dataclass(frozen=True)
class World:
    """A graph: its nodes by name, its edges."""

    nodes: dict[str, Node]
    edges: tuple[Edge, ...]


def _node(name: str, label: Label, **fields: Any) -> Node:
    subtype = {Label.EVENT: "message", Label.CHUNK: "message"}.get(label, "person")
    base = Node(
        uid=make_uid(name), label=label, tenant="t", context="c", name=name, subtype=subtype, domain="d", created_at=AT
    )
    return replace(base, **fields)


def _edge(edge_type: str, source: Node, target: Node, told_by: Node | None = None) -> Edge:
    told = {SOURCE_ITEM: told_by.uid} if told_by is not None else {}
    uid = edge_id(edge_type, source.uid, target.uid, source_item=told.get(SOURCE_ITEM, ""))
    return Edge(
        id=uid,
        type=edge_type,
        source=source.uid,
        target=target.uid,
        weight=REGISTRY.get(edge_type).weight,
        created_at=AT,
        created_by="test",
        properties=told,
    )


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Draw items, each with a passage and perhaps an event that it tells of, people, and what joins them."""
    nodes = {name: _node(name, Label.ENTITY) for name in PEOPLE}
    edges: list[Edge] = []
    for number in range(draw(st.integers(1, 6))):
        private = {"sensitivity": draw(st.sampled_from(Sensitivity)), "portable": draw(st.booleans())}
        item = _node(
            f"i{number}",
            Label.EVENT,
            content_hash="h",
            source_id=f"i{number}",
            timestamp=AT,
            flow_id="f",
            flow_step=number + 1,
            arrival=number + 1,
            **private,
        )
        chunk = _node(f"k{number}", Label.CHUNK, text="words", **private)
        event = _node(f"e{number}", Label.EVENT, text="told", **private)
        nodes |= {node.name: node for node in (item, chunk, event)}
        edges += [_edge("EVIDENCED_BY", item, chunk), _edge("EVIDENCED_BY", event, chunk, item)]
    items = [node for node in nodes.values() if node.content_hash is not None]
    root = _node("c", Label.CONTEXT, uid=context_uid("t", "c"), subtype="context")
    things = [node for node in nodes.values() if node.label is not Label.CHUNK]
    for _ in range(draw(st.integers(0, 20))):
        source, target, teller = (draw(st.sampled_from(some)) for some in (things, things, items))
        told = draw(st.booleans())
        edge_type = draw(st.sampled_from(_TOLD if told else _UNTOLD))
        if source is not target and (source.label, target.label) in REGISTRY.get(edge_type).pairs:
            edges.append(_edge(edge_type, source, target, teller if told else None))
    people = st.sampled_from([nodes[name] for name in PEOPLE])
    for _ in range(draw(st.integers(0, 3))):
        one, other = draw(people), draw(people)
        if one is not other:
            edges.append(_edge(draw(st.sampled_from(["IS_PERSON", "MERGED_INTO"])), one, other))
    for item in items:
        if item.sensitivity is not Sensitivity.PUBLIC and draw(st.booleans()):
            edges.append(_edge("ABOUT", item, draw(people)))
    for item in items:  # somebody whom many speak of, openly or not
        if draw(st.booleans()):
            edges.append(_edge("MENTIONS", item, nodes["Ana"]))
    edges += [_edge("BELONGS_TO", node, root) for node in things]
    by_id = {edge.id: edge for edge in edges}
    return World(nodes | {"c": root}, tuple(by_id.values()))


def viewer_uids(world: World, viewer: dict[str, str]) -> set[str]:
    """Return the uids of whom a viewer is: by name, by IS_PERSON to persons and back to users, each with its merges."""

    def joined(uids: set[str], edge_type: str, back: bool = False) -> set[str]:
        ends = [(e.target, e.source) if back else (e.source, e.target) for e in world.edges if e.type == edge_type]
        return {there for here, there in ends if here in uids}

    def merged(uids: set[str]) -> set[str]:
        while more := (joined(uids, "MERGED_INTO") | joined(uids, "MERGED_INTO", back=True)) - uids:
            uids = uids | more
        return uids

    called = {
        n.uid
        for n in world.nodes.values()
        if n.subtype == "person" and fold_case(n.name) == fold_case(viewer.get("user", ""))
    }
    found = merged(called)
    found |= merged(joined(found, "IS_PERSON"))
    return found | merged(joined(found, "IS_PERSON", back=True))


def seen_by(world: World, viewer: dict[str, str]) -> World:
    """Return the world as a viewer may know it, by seed 004's table: an item at a time, then what tells of whom."""
    uids = {node.uid: node for node in world.nodes.values()}
    subject, own = fold_case(viewer.get("user", "")), viewer_uids(world, viewer)

    def allowed(node: Node) -> bool:
        if node.label in {Label.ENTITY, Label.CONTEXT}:
            return True
        whom = {e.target for e in world.edges if e.type == "ABOUT" and e.source == node.uid}
        about = {fold_case(uids[uid].name) for uid in whom}
        if not node.portable and viewer.get("context") != node.context:
            return False
        if node.sensitivity is Sensitivity.SENSITIVE and viewer["chat"] != "private":
            return False
        return node.sensitivity is Sensitivity.PUBLIC or subject in about or bool(whom & own)

    visible = {uid for uid, node in uids.items() if allowed(node)}
    edges = [
        e for e in world.edges if {e.source, e.target} <= visible and e.properties.get(SOURCE_ITEM, e.source) in visible
    ]
    memories = {uid for uid in visible if uids[uid].label in {Label.EVENT, Label.CHUNK}}
    known = set(memories)
    for e in edges:
        if SOURCE_ITEM in e.properties or {e.source, e.target} & memories:
            known |= {e.source, e.target}
    known |= {world.nodes["c"].uid, *own}  # whom he is decides what he sees, though he may not know of it
    return World(
        {name: node for name, node in world.nodes.items() if node.uid in known},
        tuple(e for e in edges if {e.source, e.target} <= known),
    )


async def _ask(asker: GraphClient, name: str, fields: dict[str, Any]) -> GraphAnswer | str:
    try:
        answer = await asker.ask(name, **fields)
    except InvalidInputError as error:
        return error.detail
    return answer.model_copy(update={"took_ms": {}})


async def _answers(world: World, questions: Sequence[tuple[str, dict[str, Any]]]) -> list[GraphAnswer | str]:
    async with AsyncExitStack() as stack:
        room = stack.enter_context(tempfile.TemporaryDirectory(dir=fast_directory()))
        graph = SqliteGraphStore(stack.enter_context(DataDir(Path(room) / "data")), REGISTRY)
        stack.push_async_callback(graph.close)

        async def work(transaction: GraphTransaction) -> None:
            await transaction.put_nodes(list(world.nodes.values()))
            await transaction.put_edges(world.edges)

        await graph.write("t", "c", work)
        asker = GraphClient(graph, fanout=1)
        return [await _ask(asker, name, fields) for name, fields in questions]


def _questions(viewer: dict[str, str], start: str) -> list[tuple[str, dict[str, Any]]]:
    every: dict[str, Any] = {"exclude": []}
    asked: list[tuple[str, dict[str, Any]]] = [
        ("walk", {"start": [start], "hops": 3, "types": every}),
        ("walk", {"start": [start], "hops": 2, "limit": 4}),
        ("walk", {"context": "c", "hops": 1, "types": every, "statements": True}),
        ("find", {"name": start}),
        ("find", {"context": "c", "limit": 2}),
        ("flow", {"flow": "f"}),
        *((name, {"node": start}) for name in ("about", "person", "users", "merges", "history")),
    ]
    return [(name, {**fields, "viewer": viewer}) for name, fields in asked]


@pytest.mark.timeout(3600)
@settings(max_examples=120 * TIMES, derandomize=TIMES == 1)
@given(
    world=worlds(),
    viewer=st.sampled_from(VIEWERS),
    start=st.sampled_from([*PEOPLE, "souza", "i0", "i1", make_uid("e0"), make_uid("k0"), "c"]),
)
def test_graph_answers_equal_those_of_a_graph_without_hidden_parts(
    world: World, viewer: dict[str, str], start: str
) -> None:
    questions = _questions(viewer, start)
    told = asyncio.run(_answers(world, questions))
    without = asyncio.run(_answers(seen_by(world, viewer), questions))
    hidden = {node.uid for node in world.nodes.values()} - {n.uid for n in seen_by(world, viewer).nodes.values()}
    for question, answer, expected in zip(questions, told, without, strict=True):
        assert answer == expected, question
        said = answer if isinstance(answer, str) else answer.model_dump_json()
        assert not [uid for uid in hidden - {start} if uid in said], question
