"""What speaks for an auto-tag, and for a link."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.generators.consolidation_events import AT
from vicw_shared.model import Label, Node
from vicw_sleep.dream.auto_tags import NEIGHBOURS, PHRASE, choose
from vicw_sleep.dream.key_phrases import KeyPhrase
from vicw_sleep.dream.similarity import FLOOR, SimilarItem, certainty_of, same_visibility
from vicw_sleep.mirror.atoms import Atom

TEXT = "The winter storm broke the lighthouse near the harbour."


def atom(
    uid: str = "a", text: str = TEXT, tags: tuple[str, ...] = (), about: frozenset[str] = frozenset(), **fields: Any
) -> Atom:
    told = {"tenant": "t", "context": "c", "name": uid, "subtype": "note", "domain": "general", "created_at": AT}
    return Atom(Node(uid=uid, label=Label.ENTITY, **{**told, **fields}), text, tags, (), about, (), ())


def test_auto_tag_certainties_combine_phrases_and_neighbours() -> None:
    phrases = [KeyPhrase("storm", 0.6), KeyPhrase("harbour", 0.5), KeyPhrase("keeper", 0.4)]
    alike = [SimilarItem(atom("b", tags=("Storm", "sea")), 0.7), SimilarItem(atom("d", "Nothing.", tags=("sea",)), 0.5)]
    tags = {tag.name: tag for tag in choose(phrases, alike, taken=set(), in_use={"keeper"})}
    assert tags["storm"].certainty == pytest.approx(1 - 0.4 * 0.5 * 0.3)
    assert tags["harbour"].certainty == pytest.approx(1 - 0.5 * 0.5), "the likest says it, too"
    assert tags["keeper"].certainty == pytest.approx(1 - 0.6 * 0.5)
    assert tags["sea"].certainty == pytest.approx(1 - 0.3 * 0.5)
    assert (tags["storm"].reason, tags["sea"].reason) == (PHRASE, NEIGHBOURS)
    names = [tag.name for tag in choose(phrases, alike, taken=set(), in_use=set())]
    assert names == ["storm", "sea", "harbour", "keeper"]


def test_auto_tags_leave_out_tags_that_are_taken() -> None:
    assert (
        choose([KeyPhrase("storm", 0.9)], [SimilarItem(atom(tags=("Sea",)), 0.9)], taken={"storm", "sea"}, in_use=set())
        == []
    )


def test_auto_tags_of_neighbours_are_not_copied() -> None:
    guessed = Atom(atom("b").item, "Nothing.", (), (), frozenset(), (), ("guess",))
    assert choose([], [SimilarItem(guessed, 1.0)], taken=set(), in_use=set()) == []


@given(cosine=st.floats(-1, 1))
def test_similarity_certainty_scales_from_the_floor_to_one(cosine: float) -> None:
    assert certainty_of(cosine) == pytest.approx(max(0.0, (cosine - FLOOR) / (1 - FLOOR)))
    assert 0 <= certainty_of(cosine) <= 1


@pytest.mark.parametrize(
    "other",
    [
        {"tenant": "u"},
        {"context": "d"},
        {"domain": "coding"},
        {"sensitivity": "personal"},
        {"portable": False},
        {"about": frozenset({"ana"})},
    ],
)
def test_items_of_different_scope_or_audience_have_other_visibility(other: dict[str, Any]) -> None:
    assert not same_visibility(atom(), atom("b", **other))
