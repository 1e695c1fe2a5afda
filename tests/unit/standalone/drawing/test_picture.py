"""What a picture shows, and that no stored text is more than a label in it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.documents.flowchart import read
from vicw_shared.wire.graph import GraphAnswer
from vicw_standalone.drawing.mermaid import Box, DiagramLine, escape, write
from vicw_standalone.drawing.picture import EVENT, STATEMENT, Style, draw

AT = datetime(2026, 1, 19, 10, tzinfo=UTC)
HOSTILE = [
    'a"] --> n9["b',
    '"];\n    click n0 href "javascript:alert(1)"',
    "</text><script>alert(1)</script>",
    "%%{init: {'theme': 'dark'}}%%",
    "end",
    "subgraph x",
    "`**bold** _it_`",
    "# heading",
    "1. one",
    "12) twelve",
    "- item",
    "+ item",
    "$$\\frac{1}{2}$$",
    "#quot;#35;&lt;&#60;",
    "fa:fa-bomb",
    "a|b|c",
    "x:::start",
    "\u202egnp.exe\u202c",
    "tab\tand\r\nlines\u2028and\x0bmore\x00",
    "\x1b[31mred\x1b[0m",
    "__init__",
    "ﬂ°°46¶ß",
    "𝔘nicode ☃ 名前 עברית",
    "",
    " \u200b ",
]


def node(uid: str, label: str = "Event", **fields: Any) -> dict[str, Any]:
    base = {"uid": uid, "id": None, "label": label, "subtype": "s", "name": uid, "context": "c", "domain": "d"}
    return base | {"hops": 0} | fields


def edge(source: str, edge_type: str, target: str, **fields: Any) -> dict[str, Any]:
    base = {"id": f"{source} {edge_type} {target}", "type": edge_type, "source": source, "target": target}
    return base | {"weight": 1.0, "created_by": "caller"} | fields


def answer(nodes: list[dict[str, Any]], edges: list[dict[str, Any]], *start: str) -> GraphAnswer:
    return GraphAnswer.model_validate({"start": start, "nodes": nodes, "edges": edges})


def message(uid: str, text: str, speaker: str = "Ana") -> dict[str, Any]:
    return node(uid, subtype="message", id=uid, name=speaker, speaker=speaker, text=text, timestamp=AT)


def test_draw_renders_a_cause_as_a_mermaid_flowchart() -> None:
    told = [
        node("stale", name="The lock file was stale", source_item="t1"),
        node("broke", name="The build broke", source_item="t1"),
    ]
    found = answer(
        [
            message("t1", "The build broke, since the lock file was stale."),
            *told,
            node("Ana", "Entity", subtype="person"),
        ],
        [edge("stale", "CAUSED", "broke", certainty=0.95), edge("Ana", "INITIATED", "t1")],
        "t1",
    )
    assert draw(found) == (
        "flowchart LR\n"
        '    n0["Ana, 2026-01-19 10:00Z<br/>The build broke, since the lock file was stale."]:::event\n'
        '    n1("The lock file was stale"):::statement\n'
        '    n2("The build broke"):::statement\n'
        '    n3(["Ana"]):::person\n'
        '    n0 -.->|"states"| n1\n'
        '    n0 -.->|"states"| n2\n'
        '    n1 ==>|"CAUSED 0.95"| n2\n'
        '    n3 -->|"INITIATED"| n0\n'
        "    classDef event fill:#e3eefb,stroke:#3f6fa8,color:#222222\n"
        "    classDef person fill:#fde9d9,stroke:#c0722b,color:#222222\n"
        "    classDef statement fill:#ffffff,stroke:#3f6fa8,color:#222222\n"
        "    classDef start stroke-width:3px\n"
        "    class n0 start\n"
    )


def test_an_item_and_its_page_get_different_labels() -> None:
    page, item = node("page", "Entity", subtype="page", name="Rules"), node("item", "Entity", id="a.md", name="Rules")
    other = node("other", "Entity", subtype="page", name="Handbook")
    edges = [edge("item", "MENTIONS", "page"), edge("page", "LINKS_TO", "other"), edge("item", "MENTIONS", "other")]
    chart = read(draw(answer([page, item, other], edges)))
    assert chart.boxes == ["page\nRules", "text of the page\nRules", "Handbook"]
    assert ("page\nRules", "-->", "LINKS_TO", "Handbook") in chart.lines


def test_kinship_edges_are_drawn() -> None:
    people = [node("Ben", "Entity"), node("Clara", "Entity"), node("Lisbon", "Entity")]
    found = answer(people, [edge("Ben", "HAS_RELATIONSHIP", "Clara", desc="sister")])
    chart = read(draw(found, Style(lonely=False)))
    assert chart.lines == [("Ben", "-->", "sister", "Clara")]
    assert chart.kinds == {"Ben": {"person"}, "Clara": {"person"}}
    assert read(draw(found)).boxes == ["Ben", "Clara", "Lisbon"]


def test_past_statements_are_drawn_with_their_end() -> None:
    old = message("old", "Ana lives in Lisbon.") | {"valid_to": AT, "retired_at": AT}
    chart = read(draw(answer([message("new", "Ana lives in Porto."), old], [edge("new", "SUPERSEDES", "old")], "new")))
    assert chart.kinds["Ana, 2026-01-19 10:00Z, until 2026-01-19 10:00Z\nAna lives in Lisbon."] == {"event", "past"}
    assert chart.kinds["Ana, 2026-01-19 10:00Z\nAna lives in Porto."] == {"event", "start"}


def test_a_statement_without_a_cause_is_drawn_in_its_items_box() -> None:
    mere = [
        node("s", source_item="t1", name="Ana slept"),
        node("mine", source_item="t1"),
        node("his", source_item="t1"),
    ]
    edges = [
        edge("s", "MENTIONS", "Porto"),
        edge("Ana", "INITIATED", "t1"),
        edge("Ana", "INITIATED", "mine"),
        edge("Ben", "INITIATED", "his"),
    ]
    people = [node(name, "Entity", subtype="person") for name in ("Ana", "Ben")]
    chart = read(draw(answer([message("t1", "x"), *mere, *people, node("Porto", "Entity")], edges)))
    item = "Ana, 2026-01-19 10:00Z\nx"
    assert chart.lines == [
        (item, "-.->", "states", "his"),
        (item, "-.->", "MENTIONS", "Porto"),
        ("Ana", "-->", "INITIATED", item),
        ("Ben", "-->", "INITIATED", "his"),
    ], "who did it is not told of what somebody else said"


def test_statements_with_the_same_words_are_drawn_as_one_box() -> None:
    told = [
        node("a", source_item="t1", name="It rained"),
        node("b", source_item="t2", name="it  RAINED"),
        node("c", source_item="t2"),
    ]
    edges = [
        edge("x", "CAUSED", "a", certainty=0.5),
        edge("b", "CAUSED", "c"),
        edge("x", "CAUSED", "b", certainty=0.75),
    ]
    chart = read(draw(answer([*told, node("x", source_item="t3")], edges)))
    assert chart.lines == [("It rained", "==>", "CAUSED", "c"), ("x", "==>", "CAUSED 0.75", "It rained")]


def test_merged_entities_are_one_box_unless_merges_are_drawn() -> None:
    things = [node(name, "Entity") for name in ("Anna", "Ana", "A", "Ben")]
    edges = [edge("Anna", "MERGED_INTO", "Ana"), edge("A", "MERGED_INTO", "Anna"), edge("Ben", "RELATED_TO", "A")]
    found = answer(things, edges, "A")
    assert read(draw(found)).lines == [("Ben", "-->", "RELATED_TO", "Ana")]
    assert read(draw(found)).kinds["Ana"] == {"thing", "start"}
    assert len(read(draw(found, Style(merges=True))).lines) == 3
    circle = answer(things, [edge("Anna", "MERGED_INTO", "Ana"), edge("Ana", "MERGED_INTO", "Anna")])
    assert len(read(draw(circle)).boxes) == 3, "which nobody should have made"


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"label": "Context"}, "root"),
        ({"label": "Chunk"}, "proof"),
        ({"label": "Concept", "subtype": "tag"}, "concept"),
        ({"label": "Entity", "subtype": "class"}, "code"),
        ({"label": "Entity", "subtype": "file"}, "document"),
        ({"label": "Entity", "subtype": "note", "id": "n"}, "document"),
        ({"label": "Entity", "subtype": "USER"}, "person"),
        ({"label": "Event"}, "event"),
        ({"label": "Event", "source_item": "elsewhere"}, "statement"),
    ],
)
def test_label_and_subtype_decide_the_kind_of_a_box(fields: dict[str, Any], kind: str) -> None:
    assert read(draw(answer([node("x", **fields)], []))).kinds == {"x": {kind}}


def test_long_names_are_cut_and_white_space_is_one_space() -> None:
    (label,) = read(draw(answer([node("x", name="word " * 100)], []))).boxes
    assert len(label) <= 60
    assert label.endswith("word…")


def hostile_answer(text: str) -> GraphAnswer:
    nodes = [node("a", name=text), message("b", text, text or "x"), node("c", "Entity", name=text, subtype=text)]
    edges = [edge("a", "CAUSED", "b", desc=text), edge("a", "RELATED_TO", "c", desc=text)]
    return answer(nodes, [*edges, edge("a", "X" + text, "c")], "a")


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_name_is_drawn_only_as_a_label(text: str) -> None:
    chart = read(draw(hostile_answer(text)))
    assert (len(chart.boxes), len(chart.lines)) == (3, 3)
    assert draw(hostile_answer(text)).replace("\n", "").isprintable()


@given(st.text(max_size=80))
def test_any_text_is_drawn_as_a_label_with_its_printable_characters(text: str) -> None:
    (box, other) = read(write([Box(EVENT, [text]), Box(STATEMENT, ["x"])], [DiagramLine(0, 1, text)])).boxes
    assert other == "x"
    kept = [ch for ch in text if ch.isprintable()]
    assert [ch for ch in box if not ch.isspace() and ch != "\u200b"] == [ch for ch in kept if not ch.isspace()]


def test_labels_are_escaped_only_where_needed() -> None:
    plain = "Ana's well-kept file (v1.2), 10:00: it broke! Why?"
    assert escape(plain) == plain
    assert escape("1. one") == "1#46; one"
    assert escape("a--b") == "a-#45;b"
    assert escape("LINKS_TO a > b") == "LINKS_TO a #gt; b"
    assert escape("_a_ b__c") == "#95;a#95; b#95;#95;c"
