"""Clauses tell who does what to what."""

import pytest

from vicw_ingest.extraction.rules.clauses import Phrases
from vicw_shared.language.analysis import Analyst


@pytest.fixture(scope="module")
def analyst() -> Analyst:
    return Analyst()


def told(analyst: Analyst, text: str) -> list[tuple[str, str, str]]:
    ((sentence,),) = analyst.analyse([text])
    phrases = Phrases(sentence)

    def written(place: int | None) -> str:
        return phrases.text(place, bare=True) if place is not None else ""

    return [
        (written(clause.subject), " ".join(phrases.words[at].text for at in clause.verb_words), written(clause.object))
        for clause in phrases.clauses()
    ]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("The new deploy broke the login page.", ("The new deploy", "broke", "the login page")),
        ("Ana did not delete the table.", ("Ana", "did not delete", "the table")),
        ("The bridge was burned by Aldric.", ("The bridge", "was burned", "Aldric")),
        ("My sister moved to Berlin.", ("My sister", "moved", "Berlin")),
    ],
)
def test_a_plain_sentence(analyst: Analyst, text: str, fact: tuple[str, str, str]) -> None:
    assert told(analyst, text) == [fact]


def test_two_verbs_share_their_subject(analyst: Analyst) -> None:
    facts = told(analyst, "Ben deleted the branch and closed the ticket.")
    assert [(subject, verb) for subject, verb, _ in facts] == [("Ben", "deleted"), ("Ben", "closed")]


def test_what_is_said_besides_is_no_part_of_a_name(analyst: Analyst) -> None:
    facts = told(analyst, "Ana, who lives in Porto, wrote the parser.")
    assert ("Ana", "wrote", "the parser") in facts


def test_passive_and_negation_are_told(analyst: Analyst) -> None:
    ((sentence,),) = analyst.analyse(["The file was never closed."])
    (clause,) = Phrases(sentence).clauses()
    assert (clause.passive, clause.negated) == (True, True)
