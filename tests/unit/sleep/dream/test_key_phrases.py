"""Key phrases: what a text is about, in its own words."""

from __future__ import annotations

import math

import pytest

from vicw_sleep.dream.key_phrases import analyst, candidates, key_phrases, terms_of


def phrase_counts(text: str) -> dict[str, int]:
    (sentences,) = analyst().analyse([text])
    return dict(candidates(sentences))


def test_key_phrases_are_nouns_with_their_modifiers() -> None:
    assert phrase_counts("The winter storm broke the old lighthouse near the stony harbour last night.") == {
        "winter storm": 1,
        "lighthouse": 1,
        "stony harbour": 1,
        "night": 1,
    }


def test_a_long_noun_phrase_is_cut_to_its_last_three_words() -> None:
    (phrase,) = [one for one in phrase_counts("They bought a cheap red wooden garden chair.") if "chair" in one]
    assert phrase == "wooden garden chair"


@pytest.mark.parametrize(
    "text", ["See https://example.org/a?b=1 or a@b.org.", "42 and 7.", "", "It is so, and they do."]
)
def test_addresses_numbers_and_stop_words_are_no_key_phrases(text: str) -> None:
    assert all(phrase.replace(" ", "").isalpha() for phrase in phrase_counts(text))
    assert not {"example", "https"} & phrase_counts(text).keys()


def test_key_phrase_certainty_follows_its_formula() -> None:
    (storm,), (winter,) = terms_of("storm"), terms_of("winter")
    found = {p.text: p.certainty for p in key_phrases({"winter storm": 2, "storm": 1}, {storm: 1.0, winter: 3.0})}
    best, other = math.log(3) * 2.0 * 1.2, math.log(2) * 1.0
    assert found["winter storm"] == pytest.approx(2.0 / 2.5)
    assert found["storm"] == pytest.approx(other / best * 1.0 / 1.5)


def test_terms_with_zero_rarity_yield_no_key_phrases() -> None:
    assert key_phrases({"thing": 3}, {terms_of("thing")[0]: 0.0}) == []
    assert key_phrases({}, {}) == []
