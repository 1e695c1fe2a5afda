"""Which names are alike enough to be shown to a person."""

from __future__ import annotations

import random

import pytest

from vicw_core.identity.name_similarity import EntityName, pairs_of


def reasons_by_pair(*names: str, subtypes: tuple[str, ...] = (), threshold: float = 0.88) -> dict[tuple[str, str], str]:
    """Return the reason of each pair of names of different things."""
    kinds = subtypes or ("person",) * len(names)
    called = [
        EntityName(number, "Entity", kind, name) for number, (name, kind) in enumerate(zip(names, kinds, strict=True))
    ]
    return {(names[one.entities[0]], names[one.entities[1]]): one.reason for one in pairs_of(called, threshold)}


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("Ana Souza", "ANA  souza", "same name"),
        ("José García", "Jose Garcia", "same name but for accents and punctuation"),
        ("Mary-Ann Lee", "Mary Ann Lee", "same name but for accents and punctuation"),
        ("Souza, Ana", "Ana Souza", "same words in another order"),
        ("J. Smith", "John Smith", "initials"),
        ("J. R. R. Tolkien", "John Ronald Reuel Tolkien", "initials"),
        ("Tolkien", "John Tolkien", "one word of the only longer name that has it"),
        ("Katharine Hepburn", "Katherine Hepburn", "spelt alike (0.94)"),
        ("src/main.py", "SRC/main.py", "same name"),
    ],
)
def test_spellings_of_one_name_are_proposed_with_their_reason(one: str, other: str, reason: str) -> None:
    assert reasons_by_pair(one, other) == {(one, other): reason}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ana", "Ann"),  # in few letters, one makes another name
        ("Jane Smith", "John Smith"),
        ("J. Smith", "John Paul Smith"),
        ("J. Smith", "John Jones"),
        ("version 1.2", "version 1.3"),
        ("chapter 3", "chapter 4"),
        ("tests/test_a.py", "tests/test_b.py"),
        ("foo_bar", "foo.bar"),
        ("\u304c\u3059", "\u304b\u3059"),  # gas and kasu: a mark that makes another letter
    ],
)
def test_names_of_different_entities_are_not_proposed(one: str, other: str) -> None:
    assert reasons_by_pair(one, other) == {}


def test_a_word_shared_by_two_longer_names_is_proposed_for_each() -> None:
    either = "one word of several longer names"
    assert reasons_by_pair("Ana", "Ana Souza", "Ana Lima") == {
        ("Ana", "Ana Souza"): either,
        ("Ana", "Ana Lima"): either,
    }
    assert reasons_by_pair("Ana", "Ana Souza", "Ana Lima", "Ana Roth", "Ana Berg") == {}, (
        "so common a name tells nothing"
    )
    places = ("Salt", "Salt Road", "Salt Lake")
    assert reasons_by_pair(*places, subtypes=("place",) * 3) == {}


def test_a_name_of_unknown_subtype_may_match_a_person() -> None:
    part = "one word of the only longer name that has it"
    assert reasons_by_pair("Marit", "Marit Holm", subtypes=("person", "name")) == {("Marit", "Marit Holm"): part}
    assert reasons_by_pair("Marit", "Marit Holm", subtypes=("person", "ship")) == {}


def test_entities_of_different_subtypes_are_proposed_by_equal_name_only() -> None:
    assert reasons_by_pair("Wizard", "wizard", subtypes=("class", "person")) == {
        ("Wizard", "wizard"): "same name, another subtype"
    }
    assert reasons_by_pair("Ana Souza", "Souza Ana", subtypes=("firm", "person")) == {}
    assert reasons_by_pair("Katharine", "Katherine", subtypes=("firm", "person")) == {}


def test_the_threshold_applies_to_the_spelling_similarity() -> None:
    assert reasons_by_pair("Katharine", "Katerina", threshold=0.95) == {}
    assert list(reasons_by_pair("Katharine", "Katerina", threshold=0.7).values()) == ["spelt alike (0.71)"]


def test_spelling_is_not_compared_without_a_threshold() -> None:
    called = [EntityName(n, "Entity", "person", name) for n, name in enumerate(("José Ek", "Jose Ek", "Joseph Ek"))]
    assert [(pair.entities, pair.spelt) for pair in pairs_of(called, None)] == [((0, 1), False)]
    assert [pair.spelt for pair in pairs_of(called, 0.7)] == [False, True, True]


def test_each_pair_is_proposed_once_and_sorted_by_score() -> None:
    called = [
        EntityName(0, "Entity", "person", "John Smith"),
        EntityName(1, "Entity", "person", "J. Smith"),
        EntityName(1, "Entity", "person", "john smith"),
        EntityName(2, "Entity", "person", "Jon Smith"),
        EntityName(3, "Concept", "person", "John Smith"),
    ]
    found = pairs_of(called, 0.88)
    assert (found[0].entities, found[0].reason) == ((0, 1), "same name")
    assert len({pair.entities for pair in found}) == len(found) == 3
    assert [pair.score for pair in found] == sorted((pair.score for pair in found), reverse=True)
    assert all(0 <= pair.score <= 1 and 3 not in pair.entities for pair in found)


def test_names_of_more_than_one_block_are_compared_with_each_other() -> None:
    draw = random.Random(1)
    names = ["".join(draw.choices("bcdfghjklm", k=12)) for _ in range(1200)]
    names[3], names[1100] = "katharine hepburn", "katherine hepburn"
    assert (names[3], names[1100]) in reasons_by_pair(*names)


def test_a_name_shared_by_very_many_entities_gives_no_pairs() -> None:
    assert reasons_by_pair(*["same"] * 60) == {}
