"""What every GraphStore knows of the time at which items and their statements happened."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from support.stores.graph_records import AT, Graph, edge, node, put
from vicw_shared.model import Label, Node
from vicw_shared.model.core5 import LASTS
from vicw_shared.ports import PassageTimes
from vicw_shared.uids import make_uid

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
MIDNIGHT = AT.replace(hour=0, minute=0, second=0, microsecond=0)


def statement(name: str, **fields: object) -> Node:
    base = node(name, Label.EVENT, subtype="statement", timestamp=AT, timestamp_inferred=False)
    return replace(base, qdrant_id=base.uid, **fields)  # type: ignore[arg-type]


def item(name: str, **fields: object) -> Node:
    base = node(name, Label.EVENT, content_hash="h", source_id=name, timestamp=AT, arrival=1)
    return replace(base, **fields)  # type: ignore[arg-type]


async def test_the_first_items_of_a_span_come_first_when_asked(graph: Graph) -> None:
    nodes = [item(f"i{n}", timestamp=AT + n * HOUR, arrival=n) for n in range(5)]
    await put(graph, [node("c", Label.CONTEXT, context="c"), *nodes])
    assert await graph.between("t", AT, AT + DAY, limit=2, earliest=True) == nodes[:2]
    assert await graph.between("t", AT + HOUR, AT + DAY, contexts=["c"], limit=2, earliest=True) == nodes[1:3]


async def test_statements_are_found_by_the_time_that_they_give(graph: Graph) -> None:
    early, late = statement("early", timestamp=AT - HOUR), statement("late", timestamp=AT + HOUR)
    extracted = node("extracted", Label.EVENT, timestamp=AT, timestamp_inferred=False)
    elsewhere = statement("elsewhere", context="d", timestamp=AT + HOUR / 2)
    roots = [node(name, Label.CONTEXT, context=name) for name in ("c", "d")]
    others = [
        statement("retired", retired_at=AT),
        statement("untimed", timestamp_inferred=True),
        item("item"),
        node("passage", Label.CHUNK, timestamp=AT),
    ]
    await put(graph, [*roots, late, early, extracted, elsewhere, *others])
    await put(graph, [statement("theirs", tenant="u")], tenant="u")
    found = await graph.stated_between("t", AT - DAY, AT + DAY, limit=9)
    assert found == [late, elsewhere, extracted, early]
    assert await graph.stated_between("t", AT - DAY, AT + DAY, limit=2) == [late, elsewhere]
    assert await graph.stated_between("t", AT - DAY, AT + DAY, limit=2, earliest=True) == [early, extracted]
    assert await graph.stated_between("t", AT, AT + HOUR, contexts=["c", "none"], limit=9) == [extracted]
    assert await graph.stated_between("t", AT, AT + HOUR, contexts=[], limit=9) == []
    assert await graph.stated_between("t", AT + HOUR, AT, limit=9) == []
    await put(graph, [replace(late, retired_at=AT)])
    assert await graph.stated_between("t", AT + HOUR, AT + DAY, limit=9) == []


async def test_the_times_of_an_items_statements_are_read_with_their_length(graph: Graph) -> None:
    day = statement("day", timestamp=MIDNIGHT, metadata={LASTS: 86400.0})
    month = statement("month", timestamp=MIDNIGHT, metadata={LASTS: 31 * 86400.0})
    earlier = statement("of an earlier version", timestamp=MIDNIGHT)
    instant = statement("instant", timestamp=AT + HOUR)
    untimed = statement("untimed", timestamp_inferred=True)
    retired = statement("retired", timestamp=MIDNIGHT - DAY, retired_at=AT)
    cause = node("cause", Label.EVENT, timestamp=AT, timestamp_inferred=True)
    passages = [node(name, Label.CHUNK) for name in ("k1", "k2", "k3")]
    items = [item("one"), item("two"), item("none"), item("three")]
    proofs = [
        *(edge("EVIDENCED_BY", of, to) for of, to in (("one", "k1"), ("one", "k2"), ("two", "k3"), ("none", "k4"))),
        *(edge("EVIDENCED_BY", of, "k1") for of in ("day", "untimed", "cause")),
        *(edge("EVIDENCED_BY", of, "k2") for of in ("month", "instant", "retired")),
        *(edge("EVIDENCED_BY", of, "k3") for of in ("of an earlier version", "cause")),
    ]
    nodes = [*items, *passages, node("k4", Label.CHUNK), day, month, earlier, instant, untimed, retired, cause]
    await put(graph, nodes, proofs)
    uids = {name: make_uid(name) for name in ("one", "two", "none")}
    found = await graph.stated_times("t", list(uids.values()))
    second = (MIDNIGHT - DAY, MIDNIGHT), (MIDNIGHT, MIDNIGHT + 31 * DAY), (AT + HOUR, AT + HOUR + timedelta.resolution)
    assert {uid: {one.passage: one for one in times} for uid, times in found.items()} == {
        uids["one"]: {
            make_uid("k1"): PassageTimes(make_uid("k1"), ((MIDNIGHT, MIDNIGHT + DAY),), untimed=True),
            make_uid("k2"): PassageTimes(make_uid("k2"), tuple(sorted(second))),
        },
        uids["two"]: {make_uid("k3"): PassageTimes(make_uid("k3"), ((MIDNIGHT, MIDNIGHT + DAY),))},
    }
    assert await graph.stated_times("u", list(uids.values())) == {}
    assert await graph.stated_times("t", []) == {}
