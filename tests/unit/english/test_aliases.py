"""Other names that a sentence states."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from vicw_english.extractor import EnglishExtractor
from vicw_shared.model.edges import ALIAS_OF
from vicw_shared.model.extraction import SPEAKER, SourceText, TextExtraction

EXTRACTOR = EnglishExtractor()


def extracted(text: str) -> TextExtraction:
    return EXTRACTOR.extract([SourceText(text, datetime(2026, 1, 5, tzinfo=UTC))])[0]


def aliases(text: str) -> list[tuple[str, str]]:
    """Return each alias with its name."""
    extraction = extracted(text)
    names = {entity.key: entity.name for entity in extraction.entities} | {SPEAKER: "the speaker"}
    return [(names[one.source], names[one.target]) for one in extraction.relations if one.type == ALIAS_OF]


@pytest.mark.parametrize(
    ("text", "alias", "name"),
    [
        ("Edward (Ned) Marsh painted the fence.", "Ned", "Edward Marsh"),
        ('Yesterday Edward "Ned" Marsh painted the fence.', "Ned", "Edward Marsh"),
        ("Josephine Alder, whom everyone calls Posy, moved in.", "Posy", "Josephine Alder"),
        ("Josephine Alder, who all of us call Posy, moved in.", "Posy", "Josephine Alder"),
        ("Theodora (whom her friends always call Dot) moved in.", "Dot", "Theodora"),
        ("Margaret Lunn, known as Peggy, sold the boat.", "Peggy", "Margaret Lunn"),
        ("Margaret Lunn is better known to her pupils as Peggy.", "Peggy", "Margaret Lunn"),
        ("Margaret Lunn goes by Peggy.", "Peggy", "Margaret Lunn"),
        ("Margaret Lunn, a.k.a. Peggy, sold the boat.", "Peggy", "Margaret Lunn"),
        ("Josephine, or Posy for short, sings.", "Posy", "Josephine"),
        ("My neighbour Peggy (short for Margaret) sings.", "Peggy", "Margaret"),
        ("Hello! Everybody calls me Peggy.", "Peggy", "the speaker"),
    ],
)
def test_words_that_give_a_person_another_name_make_it_an_alias(text: str, alias: str, name: str) -> None:
    assert aliases(text) == [(alias, name)]


@pytest.mark.parametrize(
    "text",
    [
        "We flew to Paris (France) in May.",
        "Anna (12) plays chess.",
        "Tom (his brother) came along.",
        "I met Paul (Anna saw him) at noon.",
        "Is Edward (Ned) Marsh at home?",
        "Is Margaret Lunn also known as Peggy?",
        "Edward, whom nobody calls Ned, left.",
        "Edward is not known as Ned.",
        "Edward, known as a painter, met Ned.",
        "Edward or Ned for the short trip?",
        "They call Mia a hero.",
        "Edward called Ned.",
        "Josephine, who called Posy, was late.",
        "Edward, whom Ned calls Sundays, left.",
    ],
)
def test_names_beside_each_other_are_no_aliases(text: str) -> None:
    assert aliases(text) == []


def test_a_nickname_stands_beside_the_whole_name_of_a_person() -> None:
    named = {entity.name: entity.guess for entity in extracted("Edward (Ned) Marsh painted the fence.").entities}
    assert named == {"Edward Marsh": "person", "Ned": "person"}
