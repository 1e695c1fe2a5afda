"""What plain sentences claim of attributes, and which claims exclude each other; near-misses claim nothing."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from vicw_ingest.extraction.rules.attribute_claims import ParsedClaim, agrees, claims, supersedes
from vicw_shared.language.analysis import Analyst


@cache
def analyst() -> Analyst:
    return Analyst()


def claimed(text: str) -> list[ParsedClaim]:
    return [claim for sentence in analyst().analyse([text])[0] for claim in claims(sentence)]


@pytest.mark.parametrize(
    ("text", "subject", "attribute", "value"),
    [
        ("I live in Lyon.", "$speaker", "home", "Lyon"),
        ("We've just moved from Leeds to York.", "$speaker", "home", "York"),
        ("Ben has moved to Bergen.", "ben", "home", "Bergen"),
        ("I work for Acme.", "$speaker", "employer", "Acme"),
        ("Ana works as a nurse.", "ana", "occupation", "nurse"),
        ("Update: we raised the default timeout to 60 seconds.", "default", "timeout", "60 seconds"),
        ("The port of the staging server is now 9090.", "staging server", "port", "9090"),
        ("My favorite color is green now.", "$speaker", "favourite colour", "green"),
        ("We renamed the project to Hawk.", "project", "name", "Hawk"),
        ("The ticket is now 15 dollars.", "ticket", "price", "15 dollars"),
        ("The meeting has been moved to Thursday.", "meeting", "schedule", "Thursday"),
        ("Since May, the rent of the studio has been 950 a month.", "studio", "rent", "950 a month"),
        ("The timeout for uploads is 90 seconds.", "upload", "timeout", "90 seconds"),
        ("The budget went from 900 to 1,200 euros.", "", "budget", "1,200 euros"),
    ],
)
def test_a_plain_sentence_claims_an_attribute(text: str, subject: str, attribute: str, value: str) -> None:
    claim = claimed(text)[0]
    assert (claim.subject, claim.attribute, claim.value) == (subject, attribute, value)


@pytest.mark.parametrize(
    "text",
    [
        "We moved to Kubernetes.",
        "we moved to microservices",
        "Our team moved to Slack.",
        "We moved to FaunaDB.",
        "We've moved to Google Cloud.",
        "I moved to TypeScript last year.",
    ],
)
def test_nobody_lives_in_a_tool(text: str) -> None:
    assert [claim for claim in claimed(text) if claim.attribute == "home"] == []


@pytest.mark.parametrize(
    ("text", "subject", "value"),
    [
        ("We moved to Porto.", "$speaker", "Porto"),
        ("The team moved to Berlin.", "team", "Berlin"),
        ("The office has moved to Unit 12.", "office", "Unit 12"),
        ("We moved to Spring Valley.", "$speaker", "Spring Valley"),
    ],
)
def test_where_somebody_or_something_moved_is_a_home(text: str, subject: str, value: str) -> None:
    assert ("home", subject, value) in [(claim.attribute, claim.subject, claim.value) for claim in claimed(text)]


@pytest.mark.parametrize(
    "text",
    [
        "The train went from 9 to 11.",
        "Marta went from Paris to Rome.",
        "def rate(budget: int) -> float",
        "Do you live in Lyon?",
        "I might move to Porto.",
        "If the port is 9090, the check fails.",
        "I used to live in Lyon.",
        "I want to move to Oslo.",
        "The timeout should be 60 seconds.",
        "We plan to rename the project to Hawk.",
        "When I was a kid I lived in Leeds.",
        "Let's move the meeting to Thursday.",
        "They moved to Lyon in 1998.",
        "I almost sold the car.",
        '"I live in Paris," he read aloud.',
        "I also have a cat.",
        "The new port would be 9090.",
        "We will rename the project next week.",
        "It is raining in Porto.",
        "Thanks, that was a great evening!",
        "I had two meetings today.",
    ],
)
def test_what_is_not_asserted_of_now_claims_nothing(text: str) -> None:
    assert claimed(text) == []


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I live in Lyon.", "I moved to Porto last month."),
        ("I work at Acme.", "I left Acme and joined Globex last week."),
        ("The meeting is on Monday at 10.", "The meeting was pushed to Thursday at 10."),
        ("Standup is at 9:30.", "Standup starts at ten."),
        ("The wedding is on 12 June.", "The wedding was postponed to 3 July."),
        ("A ticket costs 12 euros.", "Tickets are 14 euros now."),
        ("My phone number is 555-1234.", "My new phone number is 555-9876."),
    ],
)
def test_another_value_or_an_end_replaces(older: str, newer: str) -> None:
    pairs = [(n, o) for n in claimed(newer) for o in claimed(older) if n.subject == o.subject]
    assert any(n.attribute == o.attribute and supersedes(n, o) for n, o in pairs)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I live in Lyon.", "I live in Lyon, near the river."),
        ("Ben lives in Oslo.", "Ana lives in Bergen."),
        ("The meeting is on Monday.", "The meeting is at 10:00."),
        ("The meeting is at 3pm.", "The meeting is at 15:00."),
    ],
)
def test_what_can_both_be_does_not(older: str, newer: str) -> None:
    told = [(new, old) for new in claimed(newer) for old in claimed(older) if new.attribute == old.attribute]
    assert told, "both claim the attribute"
    assert not [pair for pair in told if pair[0].subject == pair[1].subject and supersedes(*pair)]


def replaces(pair: str) -> bool:
    older, newer = ([c for c in claimed(text) if c.source is None] for text in pair.split(" => "))
    assert older, "it claims what might be replaced"
    same = [(n, o) for n in newer for o in older if (n.subject, n.attribute) == (o.subject, o.attribute)]
    return any(supersedes(new, old) for new, old in same)


def pairs(name: str) -> list[str]:
    return (Path(__file__).parent / "statements" / name).read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("pair", pairs("replaced.txt"))
def test_a_newer_statement_takes_the_place_of_an_older(pair: str) -> None:
    assert replaces(pair)


@pytest.mark.parametrize("pair", pairs("kept.txt"))
def test_what_is_of_something_else_or_not_so_takes_no_place(pair: str) -> None:
    assert not replaces(pair)


def test_a_word_of_change_tells_that_there_is_no_other() -> None:
    told, changed = claimed("My flatmate is Jess.")[0], claimed("My flatmate is Anouk now.")[0]
    assert told.weak
    assert changed.now
    assert supersedes(changed, told)
    assert not supersedes(claimed("My flatmate is Anouk.")[0], told)


def test_what_is_told_under_two_names_is_one_claim() -> None:
    claim, again = claimed("We renamed the project from Hawk to Kestrel.")
    assert (claim.subject, again.subject) == ("project", "hawk")
    assert again.also
    assert claim.value == again.value == "Kestrel"


def test_hearsay_names_its_source() -> None:
    (told,) = claimed("Tom said that Ana lives in Oslo.")
    assert told == ParsedClaim("ana", "home", "Oslo", source="tom")
    (unknown,) = claimed("Apparently, Ana lives in Oslo.")
    assert unknown.source == ""


def test_the_same_in_other_words_agrees() -> None:
    one, other = ParsedClaim("s", "port", "8080"), ParsedClaim("s", "port", "port 8080")
    assert agrees(one, other)
    assert not agrees(ParsedClaim("s", "port", "9090"), one)
    assert not agrees(ParsedClaim("s", "port", "", ended=True), one)
