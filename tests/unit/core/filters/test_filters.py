"""What a filter means for one item, and what is refused before any item is looked at."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from vicw_core.filters.compiler import compile_filter
from vicw_core.filters.predicate import ItemFields, accepts
from vicw_shared.errors import InvalidInputError
from vicw_shared.model import Label, Node, Sensitivity
from vicw_shared.settings import LimitSettings
from vicw_shared.wire.filters import Filter

AT = datetime(2026, 1, 10, tzinfo=UTC)
NOTE = Node(
    uid="00000000-0000-0000-0000-000000000001",
    label=Label.EVENT,
    tenant="t",
    context="proj/a",
    name="n",
    subtype="note",
    domain="coding",
    created_at=AT + timedelta(days=2),
    speaker="Ana",
    source="mail/1",
    source_id="n5",
    flow_id="f",
    timestamp=AT,
    importance=0.5,
    sensitivity=Sensitivity.PERSONAL,
    metadata={"house": 3, "open": True, "name": "Büro", "list": [1, "x"], "nested": {"a": 1}, "none": None, "a.b": 2},
)
FIELDS = ItemFields(NOTE, tags={"sea", "red tape"}, users={"u1"})


def passes(sent: dict[str, Any], fields: ItemFields = FIELDS) -> bool:
    return accepts(compile_filter(Filter.model_validate(sent), LimitSettings()), fields)


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"context": "proj/a"},
        {"context": {"prefix": "proj/"}},
        {"context": {"in": ["x", "proj/a"]}},
        {"domain": "Code"},
        {"label": "Event", "subtype": "note", "speaker": "Ana", "user": "u1", "flow": "f", "id": "n5"},
        {"uid": "00000000-0000-0000-0000-000000000001"},
        {"source": {"prefix": "mail"}, "sensitivity": "personal"},
        {"tags": "SEA"},
        {"tags": {"all": ["sea", "Red  Tape"], "none": ["blue"]}},
        {"metadata.house": 3.0},
        {"metadata.house": {"gte": 3, "lt": 4}},
        {"metadata.house": {"in": [2, 3]}},
        {"metadata.open": True},
        {"metadata.name": {"gt": "B", "lte": "Büro"}},
        {"metadata.list": "x"},
        {"metadata.list": {"lte": 1}},
        {"metadata.a.b": 2},
        {"metadata.nested": {"exists": True}},
        {"metadata.none": {"exists": False}},
        {"importance": 0.5},
        {"importance": {"gte": 0.5}},
        {"told": {"gte": "2026-01-10T00:00:00Z", "lt": "2026-01-11T00:00:00Z"}},
        {"happened": {"exists": True}},
        {"arrival": {"gt": "2026-01-11T00:00:00Z"}},
        {"any": [{"context": "x"}, {"speaker": "Ana"}]},
        {"all": [{"context": {"prefix": "proj"}}, {"speaker": "Ana"}]},
        {"not": {"metadata.absent": {"gt": 0}}},
    ],
    ids=str,
)
def test_a_filter_that_describes_an_item_passes_it(sent: dict[str, Any]) -> None:
    assert passes(sent)
    assert not passes({"not": sent})


@pytest.mark.parametrize(
    "sent",
    [
        {"context": "proj"},
        {"speaker": "ana"},
        {"user": {"exists": False}},
        {"tags": {"any": ["blue"]}},
        {"tags": {"none": ["sea"]}},
        {"metadata.house": "3"},
        {"metadata.house": True},
        {"metadata.open": 1},
        {"metadata.open": {"gte": 0}},
        {"metadata.house": {"gt": 3}},
        {"metadata.house": {"gt": ""}},
        {"metadata.nested": {"gt": 0}},
        {"metadata.absent": {"exists": True}},
        {"metadata.a": 2},
        {"importance": {"gt": 0.5}},
        {"told": {"gt": "2026-01-10T00:00:00Z"}},
        {"arrival": {"lt": "2026-01-11T00:00:00Z"}},
        {"any": [{"context": "x"}, {"speaker": "Ben"}]},
        {"speaker": "Ana", "context": "x"},
    ],
    ids=str,
)
def test_a_filter_that_does_not_describe_an_item_refuses_it(sent: dict[str, Any]) -> None:
    assert not passes(sent)


def test_an_item_without_a_timestamp_was_told_when_it_arrived_and_happened_at_no_known_time() -> None:
    document = ItemFields(
        Node(
            uid="u", label=Label.ENTITY, tenant="t", context="c", name="n", subtype="s", domain="general", created_at=AT
        )
    )
    assert passes({"told": {"gte": "2026-01-10T00:00:00Z", "lte": "2026-01-10T00:00:00Z"}}, document)
    assert passes({"happened": {"exists": False}}, document)
    assert not passes({"happened": {"gte": "0001-01-01T00:00:00Z"}}, document)


def test_a_number_beyond_a_float_is_above_every_other() -> None:
    huge = ItemFields(
        Node(
            uid="u",
            label=Label.ENTITY,
            tenant="t",
            context="c",
            name="n",
            subtype="s",
            domain="general",
            created_at=AT,
            metadata={"n": 10**400},
        )
    )
    assert passes({"metadata.n": {"gt": 1e308}}, huge)


@pytest.mark.parametrize(
    ("sent", "field", "said"),
    [
        ({"label": "Evnt"}, "filter.label", "'Evnt' is no label"),
        ({"any": [{"sensitivity": {"in": ["public", "secret"]}}]}, "filter.any[0].sensitivity", "is no sensitivity"),
        ({"uid": "n5"}, "filter.uid", "is no uid"),
        ({"label": {"prefix": "E"}}, "filter.label", "has no operator `prefix`"),
        ({"not": {"not": {"not": {"not": {"not": {}}}}}}, "filter", "nests 6 levels, over the limit of 5"),
        ({"context": {"in": ["c"] * 201}}, "filter", "compares with 201 values, over the limit of 200"),
    ],
    ids=str,
)
def test_a_filter_that_no_item_can_answer_is_refused(sent: dict[str, Any], field: str, said: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        passes(sent)
    (problem,) = caught.value.problems
    assert problem.field == field
    assert said in problem.problem
