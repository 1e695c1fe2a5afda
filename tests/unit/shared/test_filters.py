"""The wire form of a filter: what it takes, and how it refuses the rest."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from vicw_shared.wire.filters import Filter
from vicw_shared.wire.validation_errors import describe

EVERYTHING: dict[str, Any] = {
    "context": "Support",
    "domain": {"in": ["coding", "prose"]},
    "speaker": {"prefix": "A"},
    "user": {"exists": True},
    "tags": {"any": ["a"], "all": ["b", "c"], "none": ["d"]},
    "metadata.house": {"gte": 3, "lt": 5.5},
    "metadata.who.said": {"in": ["x", 1, True]},
    "importance": {"exists": False},
    "told": {"gte": "2026-01-01T00:00:00Z", "lt": "2026-02-01T00:00:00+01:00"},
    "any": [{"happened": {"exists": True}}, {"not": {"source": {"prefix": "mail/"}}}],
    "all": [{"arrival": {"gt": "2026-01-01T00:00:00Z"}}],
}


def problems(sent: Any) -> list[tuple[str, str]]:
    with pytest.raises(ValidationError) as caught:
        Filter.model_validate(sent)
    return [(one.field, one.problem) for one in describe(caught.value.errors(), "filter")]


def test_a_filter_survives_its_json() -> None:
    read = Filter.model_validate(EVERYTHING)
    assert Filter.model_validate_json(read.model_dump_json(exclude_unset=True)) == read
    assert read.metadata["who.said"].in_ == ("x", 1, True)


def test_a_value_alone_means_equality() -> None:
    assert Filter.model_validate({"context": "a", "metadata.k": 3, "tags": "t"}) == Filter.model_validate(
        {"context": {"eq": "a"}, "metadata.k": {"eq": 3}, "tags": {"any": ["t"]}}
    )


def test_values_keep_their_json_type() -> None:
    values = Filter.model_validate({"metadata.k": {"in": [1, 1.5, True, "1"]}}).metadata["k"].in_
    assert values is not None
    assert [type(value) for value in values] == [int, float, bool, str]


def test_depth_and_size_are_those_of_the_whole_filter() -> None:
    read = Filter.model_validate(EVERYTHING)
    assert read.depth() == 3
    assert read.size() == 20


@pytest.mark.parametrize(
    ("sent", "field", "said"),
    [
        ({"contxt": "a"}, "filter", "has no field 'contxt'. Its fields are context, domain"),
        ({"metadata.": 1}, "filter", "has no field 'metadata.'"),
        ({"any": [{"speaker": "a"}, {"speakr": "b"}]}, "any[1]", "has no field 'speakr'"),
        ({"context": {"like": "a"}}, "context.like", "extra inputs are not permitted"),
        ({"metadata.k": {"ne": 1}}, "metadata.k.ne", "extra inputs are not permitted"),
        ({"context": {}}, "context", "has no operator (eq, in, prefix, exists)"),
        ({"context": None}, "filter", "compares context with null"),
        ({"metadata.k": None}, "metadata.k", "compares with null"),
        ({"metadata.k": {"gt": 1, "lt": "z"}}, "metadata.k", "has bounds of two types"),
        ({"metadata.k": [1, 2]}, "metadata.k.eq", "should be a text, a number, or true or false"),
        ({"metadata.k": float("inf")}, "metadata.k.eq", "should be a text, a number, or true or false"),
        ({"metadata.k": {"gt": True}}, "metadata.k.gt", "should be a text, a number, or true or false"),
        ({"tags": []}, "tags.any", "is empty"),
        ({"all": []}, "all", "is empty"),
        ({"told": {"gte": "yesterday"}}, "told.gte", "must be text such as"),
        ({"told": {"gte": "2026-01-01T00:00:00"}}, "told.gte", "has no time zone"),
        ([], "filter", "should be an object"),
    ],
)
def test_a_wrong_filter_is_refused_by_the_place_of_its_fault(sent: Any, field: str, said: str) -> None:
    ((place, problem),) = problems(sent)
    assert place == field
    assert problem.startswith(said)


def test_endless_nesting_is_refused() -> None:
    sent: dict[str, Any] = {}
    for _ in range(5000):
        sent = {"not": sent}
    assert problems(sent)
