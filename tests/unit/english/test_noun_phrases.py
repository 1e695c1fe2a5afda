"""Noun phrases: what a text is about, in its own words."""

from __future__ import annotations

from collections import Counter

import pytest

from vicw_english.extractor import EnglishExtractor


def phrase_counts(text: str) -> Counter[str]:
    (phrases,) = EnglishExtractor().noun_phrases([text])
    return Counter(phrases)


def test_noun_phrases_are_nouns_with_their_modifiers() -> None:
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
def test_addresses_numbers_and_stop_words_are_no_noun_phrases(text: str) -> None:
    assert all(phrase.replace(" ", "").isalpha() for phrase in phrase_counts(text))
    assert not {"example", "https"} & phrase_counts(text).keys()
