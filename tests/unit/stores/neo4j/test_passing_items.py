"""How Neo4j is asked for the items that pass a filter: first for those that have the values which it requires."""

from __future__ import annotations

from typing import Any, cast

import pytest

from vicw_core.filters.metadata_terms import presence_term, value_term
from vicw_shared.model.names import TermKind
from vicw_shared.ports.item_filter import AllOf, Between, ItemCondition, Not, OneHolds, OneOf, Present
from vicw_stores.neo4j.cypher.item_list import WITH_EDGE
from vicw_stores.neo4j.database import RunStatement
from vicw_stores.neo4j.item_list import read_passing_items, required_words
from vicw_stores.neo4j.keys import field_word, metadata_word, term_key

_ROOM = OneOf("metadata.room", (7, "seven"))


def _word(term: str) -> str:
    return metadata_word("t", term)


@pytest.mark.parametrize(
    ("condition", "query"),
    [
        (_ROOM, f"+({_word(value_term('room', 7))} {_word(value_term('room', 'seven'))})"),
        (Present("metadata.a b"), f"+({_word(presence_term('a b'))})"),
        (Between("metadata.n", low=(1, True)), f"+({_word(presence_term('n'))})"),
        (
            AllOf((OneOf("context", ("c",)), AllOf((Present("metadata.x"), OneOf("metadata.y", (True,)))))),
            f"+({_word(presence_term('x'))}) +({_word(value_term('y', True))})",
        ),
        (
            AllOf((OneOf("speaker", ("Ana", "Ben")), Present("metadata.x"))),
            f"+({field_word('t', 'speaker', 'Ana')} {field_word('t', 'speaker', 'Ben')}) "
            f"+({_word(presence_term('x'))})",
        ),
        (OneHolds((_ROOM, _ROOM)), ""),
        (OneOf("label", ("Event",)), ""),
        (Present("speaker"), ""),
        (Not(_ROOM), ""),
        (OneOf("tags", ("a",)), ""),
    ],
    ids=str,
)
def test_a_query_has_the_values_that_are_required(condition: ItemCondition, query: str) -> None:
    assert required_words("t", condition) == query


class _Engine:
    """Finds so many items by their metadata, and says what it was asked."""

    def __init__(self, found: int) -> None:
        self.found = found
        self.asked: list[dict[str, Any]] = []

    async def __call__(self, statement: str, **values: Any) -> list[Any]:
        self.asked.append(values)
        if "most" not in values:
            return []
        return [{"uids": [f"u{n}" for n in range(self.found)] if self.found < values["most"] else None}]


@pytest.mark.parametrize(("found", "limit", "among"), [(3, 10, 3), (19, 10, 19), (20, 10, None), (30_000, 2**53, None)])
async def test_few_are_looked_at_one_by_one_and_of_many_all(found: int, limit: int, among: int | None) -> None:
    engine = _Engine(found)
    await read_passing_items(cast("RunStatement", engine), "t", _ROOM, limit, None)
    looked_at = engine.asked[1].get("among")
    assert (len(looked_at) if looked_at is not None else None) == among


async def test_given_items_are_looked_at_at_once() -> None:
    engine = _Engine(5)
    await read_passing_items(cast("RunStatement", engine), "t", _ROOM, 10, ["a"])
    assert [values.get("among") for values in engine.asked] == [["a"]]


@pytest.mark.parametrize(
    ("condition", "edge"), [(OneOf("tags", ("sea", "sky")), "TAGGED"), (OneOf("user", ("U1", "u2")), "STATED_BY")]
)
async def test_live_items_are_found_by_a_tag_or_a_user(condition: OneOf, edge: str) -> None:
    engine = _Engine(3)
    await read_passing_items(cast("RunStatement", engine), "t", condition, 10, None, live=True)
    by_edge, chosen = engine.asked
    names = [str(value).lower() for value in condition.values]
    assert by_edge["terms"] == [term_key("t", name, TermKind.NAME) for name in names]
    assert chosen["among"] == ["u0", "u1", "u2"]
    assert edge in WITH_EDGE[edge]
    engine = _Engine(3)
    await read_passing_items(cast("RunStatement", engine), "t", condition, 10, None)
    assert [values.get("among") for values in engine.asked] == [None], "what tags a retired item may be retired, too"
