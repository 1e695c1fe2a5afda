"""What plain sentences claim of attributes, and which claims exclude each other; near-misses claim nothing."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from vicw_ingest.extraction.rules.truth import Claim, agrees, claims, supersedes
from vicw_ingest.extraction.rules.truth.topics import PATTERNS
from vicw_shared.language.analysis import Analyst


@cache
def analyst() -> Analyst:
    return Analyst()


def claimed(text: str) -> list[Claim]:
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
        ("The staging server runs on port 8080.", "staging server", "port", "8080"),
        ("The port of the staging server is now 9090.", "staging server", "port", "9090"),
        ("My favorite color is green now.", "$speaker", "favourite colour", "green"),
        ("We renamed the project to Hawk.", "project", "name", "Hawk"),
        ("The ticket is now 15 dollars.", "ticket", "price", "15 dollars"),
        ("The meeting has been moved to Thursday.", "meeting", "schedule", "Thursday"),
        ("I have three cats now.", "$speaker", "count of cat", "three"),
        ("The shop is closed.", "shop", "state open", "closed"),
        ("Feature X is enabled in production.", "feature x", "state on production", "on"),
        ("Since May, the rent of the studio has been 950 a month.", "studio", "rent", "950 a month"),
        ("These days the build takes 4 minutes.", "build", "amount in time", "4 minutes"),
        ("Ownership of the parser was handed over to Mei.", "parser", "owner", "Mei"),
        ("The timeout for uploads is 90 seconds.", "upload", "timeout", "90 seconds"),
        ("The log level is DEBUG in staging.", "log", "level in staging", "DEBUG"),
        ("The newsletter is now handled by Greta.", "newsletter", "handle by", "Greta"),
        ("I moved the router to channel 11.", "router", "channel", "11"),
        ("Omar is our manager now.", "", "manager", "Omar"),
        ("The billing service is now owned by Marek.", "billing service", "owner", "Marek"),
        ("Default embedding model: minnow-small", "default embedding", "model", "minnow-small"),
        ("The API is now on version 3.0.", "api", "version", "3.0"),
        ("My son turned seven yesterday.", "$speaker son", "age", "seven"),
        ("The budget went from 900 to 1,200 euros.", "", "budget", "1,200 euros"),
        ("budget: 900 → 1200", "", "budget", "1200"),
        ("cache ttl 30 s -> 60 s", "cache", "ttl", "60 s"),
        ("I prefer coffee over tea these days.", "$speaker", "preference coffee or tea", "coffee"),
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
        "We are on Jira these days.",
        "We moved to Quellmark, which hosts our servers.",
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
        ("The docs moved to Notion.", "doc", "Notion"),
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
        ("I eat meat.", "I don't eat meat anymore."),
        ("I drive a Volvo.", "I sold the Volvo."),
        ("We use Postgres for everything.", "We switched from Postgres to MySQL."),
        ("The meeting is on Monday at 10.", "The meeting was pushed to Thursday at 10."),
        ("Standup is at 9:30.", "Standup starts at ten."),
        ("The wedding is on 12 June.", "The wedding was postponed to 3 July."),
        ("A ticket costs 12 euros.", "Tickets are 14 euros now."),
        ("My phone number is 555-1234.", "My new phone number is 555-9876."),
        ("Our manager is Dana.", "Omar took over as manager."),
        ("I'm single.", "I got married in June."),
        ("The concert is on 4 May.", "The concert was cancelled."),
        ("The match is on Saturday.", "Match is off, the pitch is flooded."),
        ("My place is in Accra.", "I moved to Kumasi last month."),
        ("The retention period is 30 days.", "The retention period was changed from 30 to 90 days."),
        ("Quinn is head of procurement.", "Rosa took over from Quinn as head of procurement."),
        ("The board meets on the first Monday.", "The board now meets every second Wednesday."),
        ("BX-21 is open.", "Update: BX-21 closed, fix shipped in 1.8.2."),
        ("TLS 1.1 is accepted.", "TLS 1.1 is no longer accepted."),
        ("The suite has 900 tests.", "The suite is at 1,004 tests."),
    ],
)
def test_another_value_or_an_end_replaces(older: str, newer: str) -> None:
    pairs = [(n, o) for n in claimed(newer) for o in claimed(older) if n.subject == o.subject]
    assert any(n.attribute == o.attribute and supersedes(n, o) for n, o in pairs)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I live in Lyon.", "I live in Lyon, near the river."),
        ("I have two cats.", "I have one dog."),
        ("My son is six.", "My daughter is eight."),
        ("Ben lives in Oslo.", "Ana lives in Bergen."),
        ("The staging server runs on port 8080.", "The test server runs on port 9090."),
        ("Feature X is enabled in staging.", "Feature X is disabled in production."),
        ("I like tea.", "I like coffee."),
        ("I own a bike.", "I own a car."),
        ("I work at Acme.", "I left Globex in March."),
        ("The meeting is on Monday.", "The meeting is at 10:00."),
        ("The shop opens at 9:00.", "The shop closes at 18:00."),
        ("The meeting is at 3pm.", "The meeting is at 15:00."),
    ],
)
def test_what_can_both_be_does_not(older: str, newer: str) -> None:
    for new in claimed(newer):
        for old in claimed(older):
            same = (new.subject, new.attribute) == (old.subject, old.attribute)
            assert not (same and supersedes(new, old)), (new, old)


def replaces(pair: str) -> bool:
    older, newer = ([c for c in claimed(text) if c.source is None] for text in pair.split("=>"))
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
    told, changed = claimed("We use Trello for planning.")[0], claimed("We use Linear for planning now.")[0]
    assert told.weak
    assert changed.now
    assert supersedes(changed, told)
    assert not supersedes(claimed("We use Linear for planning.")[0], told)


def test_what_is_told_under_two_names_is_one_claim() -> None:
    claim, again = claimed("We renamed the project from Hawk to Kestrel.")
    assert (claim.subject, again.subject) == ("project", "hawk")
    assert again.also
    assert claim.value == again.value == "Kestrel"


def test_hearsay_names_its_source() -> None:
    (told,) = claimed("Tom said that Ana lives in Oslo.")
    assert told == Claim("ana", "home", "Oslo", source="tom")
    (unknown,) = claimed("Apparently, Ana lives in Oslo.")
    assert unknown.source == ""


def test_the_same_in_other_words_agrees() -> None:
    one, other = Claim("s", "port", "8080"), Claim("s", "port", "port 8080")
    assert agrees(one, other)
    assert not agrees(Claim("s", "port", "9090"), one)
    assert not agrees(Claim("s", "port", "", ended=True), one)


def test_every_pattern_is_an_expression_with_words_to_find_it_by() -> None:
    for one in PATTERNS:
        assert one.words
        assert one.form is one.form, "it is compiled once"
