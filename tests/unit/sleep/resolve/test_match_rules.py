"""What it takes for two things of like names to be one, and what tells them apart."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from vicw_core.identity.name_similarity import ACCENTS, SAME
from vicw_core.identity.pairs import SimilarPair
from vicw_shared.model import Label, Node
from vicw_shared.uids import make_uid, named_uid
from vicw_sleep.resolve.match_rules import EntityEvidence, VisibilityKey, contradictions, may_be_one, shared_co_mentions

AT = datetime(2026, 1, 1, tzinfo=UTC)
PUBLIC: VisibilityKey = ("public", True, frozenset())
OF_ANA: VisibilityKey = ("personal", True, frozenset({"ana"}))
OF_BEN: VisibilityKey = ("personal", True, frozenset({"ben"}))


def entity_node(name: str, subtype: str = "person", **fields: Any) -> Node:
    told: dict[str, Any] = {"tenant": "t", "context": "c", "domain": "general", "label": Label.ENTITY, "created_at": AT}
    return Node(uid=named_uid("t", "c", subtype, name), name=name, subtype=subtype, **(told | fields))


def pair(one: Node, other: Node, score: float = ACCENTS, *, spelt: bool = False) -> SimilarPair:
    return SimilarPair((one, other), score, "", spelt)


def evidence_for(name: str, **fields: Any) -> EntityEvidence:
    return EntityEvidence(entity=entity_node(name), members=frozenset({name}), **fields)


ANA, ANNA = entity_node("Ana Sá"), entity_node("Ana Sa")


def test_names_that_differ_only_in_accents_may_be_one_entity() -> None:
    assert may_be_one(pair(ANA, ANNA), "c")
    assert may_be_one(pair(ANA, replace(ANNA, name="Lee", aliases=("Ana Sa",))), "c"), "renamed since"


@pytest.mark.parametrize(
    "unlike",
    [
        pair(ANA, ANNA, spelt=True),
        pair(ANA, ANNA, SAME),
        pair(ANA, entity_node("Ana Sa", "firm")),
        pair(ANA, replace(ANNA, label=Label.CONCEPT)),
        pair(ANA, replace(ANNA, domain="creative")),
        pair(ANA, replace(ANNA, context="d")),
        pair(replace(ANA, context="d"), replace(ANNA, context="d")),
        pair(ANA, replace(ANNA, protected=True)),
        pair(ANA, replace(ANNA, uid=make_uid("Tom's aunt Ana Sa"))),
        *(
            pair(entity_node("J. S.", kind), entity_node("J S", kind))
            for kind in ("user", "agent", "tag", "date", "symbol", "file")
        ),
    ],
)
def test_ineligible_pairs_are_never_matched_by_name_similarity(unlike: SimilarPair) -> None:
    assert not may_be_one(unlike, "c")


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ({"neighbours": frozenset("b")}, {}, "an edge joins the two"),
        ({}, {"neighbours": frozenset("a")}, "an edge joins the two"),
        ({"flows": frozenset("fg")}, {"flows": frozenset("gh")}, "both speak in one conversation"),
        ({"flows": frozenset("f")}, {"flows": frozenset("g")}, "both speak, and nothing says"),
        ({"mentioned_in": frozenset("ix")}, {"mentioned_in": frozenset("xj")}, "one memory names both"),
        ({"users": frozenset("u")}, {"users": frozenset("v")}, "they are different users"),
        (
            {"relations": frozenset({("is", "sister", "tom")})},
            {"relations": frozenset({("is", "aunt", "tom")})},
            "they have different relatives",
        ),
        (
            {"claims": {"· birthday": frozenset("3")}},
            {"claims": {"· birthday": frozenset("4")}},
            "they have different values",
        ),
    ],
)
def test_contradicting_evidence_about_two_entities_is_reported(
    one: dict[str, Any], other: dict[str, Any], reason: str
) -> None:
    assert contradictions(evidence_for("a", **one), evidence_for("b", **other)).startswith(reason)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {}),
        ({"neighbours": frozenset("c")}, {"neighbours": frozenset("c")}),
        ({"flows": frozenset("f")}, {}),
        ({"flows": frozenset("f"), "users": frozenset("u")}, {"flows": frozenset("g"), "users": frozenset("u")}),
        ({"users": frozenset("u")}, {}),
        ({"relations": frozenset({("is", "sister", "tom")})}, {"relations": frozenset({("has", "sister", "tom")})}),
        ({"claims": {"· birthday": frozenset("3")}}, {"claims": {"· birthday": frozenset("34")}}),
        ({"claims": {"· birthday": frozenset("3")}}, {"claims": {"· home": frozenset("4")}}),
    ],
)
def test_compatible_evidence_about_two_entities_is_no_contradiction(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert contradictions(evidence_for("a", **one), evidence_for("b", **other)) == ""


def test_shared_co_mentions_count_only_in_one_audience() -> None:
    one = evidence_for(
        "a", co_mentioned=frozenset({("oslo", PUBLIC), ("boat", OF_ANA), ("harbour", OF_ANA), ("b", PUBLIC)})
    )
    other = evidence_for(
        "b", co_mentioned=frozenset({("oslo", PUBLIC), ("boat", OF_BEN), ("harbour", OF_ANA), ("b", PUBLIC)})
    )
    assert shared_co_mentions(one, other) == {"oslo", "harbour"}, "not the two themselves"


def test_the_entity_with_more_edges_or_else_the_older_is_canonical() -> None:
    assert evidence_for("a", edges=2).rank < evidence_for("b", edges=3).rank
    younger = replace(evidence_for("b", edges=2), entity=entity_node("b", created_at=datetime(2026, 2, 1, tzinfo=UTC)))
    assert younger.rank < evidence_for("a", edges=2).rank
