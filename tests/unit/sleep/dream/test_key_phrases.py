"""Key phrases: what a text is about, in its own words."""

from __future__ import annotations

import math

import pytest

from vicw_sleep.dream.key_phrases import key_phrases, terms_of


def test_key_phrase_certainty_follows_its_formula() -> None:
    (storm,), (winter,) = terms_of("storm"), terms_of("winter")
    found = {p.text: p.certainty for p in key_phrases({"winter storm": 2, "storm": 1}, {storm: 1.0, winter: 3.0})}
    best, other = math.log(3) * 2.0 * 1.2, math.log(2) * 1.0
    assert found["winter storm"] == pytest.approx(2.0 / 2.5)
    assert found["storm"] == pytest.approx(other / best * 1.0 / 1.5)


def test_terms_with_zero_rarity_yield_no_key_phrases() -> None:
    assert key_phrases({"thing": 3}, {terms_of("thing")[0]: 0.0}) == []
    assert key_phrases({}, {}) == []
