"""The events by which a question says when, and what only looks like one."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from vicw_retrieval.temporal.event_references import ReferenceSide
from vicw_retrieval.temporal.query_analyzer import analyse_time

NOW = datetime(2026, 3, 18, 15, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("query", "direction", "phrase"),
    [
        ("What happened before the deployment?", ReferenceSide.BEFORE, "the deployment"),
        ("What happened in the story after the explosion?", ReferenceSide.AFTER, "the explosion"),
        ("what happened next after the wizard left", ReferenceSide.AFTER, "the wizard left"),
        ("When we deployed, what broke?", ReferenceSide.DURING, "we deployed"),
        ("What changed since the migration?", ReferenceSide.AFTER, "the migration"),
        ("Who was on call during the outage?", ReferenceSide.DURING, "the outage"),
        ("What did she say when the bridge fell?", ReferenceSide.DURING, "the bridge fell"),
        ("After the fire, who left?", ReferenceSide.AFTER, "the fire"),
        ("What did Jean go through before meeting Maria?", ReferenceSide.BEFORE, "meeting Maria"),
        ("How did he feel after Tephany spoke?", ReferenceSide.AFTER, "Tephany spoke"),
        ("When did she go on a hike after the roadtrip?", ReferenceSide.AFTER, "the roadtrip"),
        ("What failed after deployment?", ReferenceSide.AFTER, "deployment"),
        ("What broke after the deployment last week?", ReferenceSide.AFTER, "the deployment"),
        ("What happened before J. Doe deployed?", ReferenceSide.BEFORE, "J. Doe deployed"),
        ("What happened after Dr. Braun left? Tell me.", ReferenceSide.AFTER, "Dr. Braun left"),
        ("Tell me what happened after the fire. Who left?", ReferenceSide.AFTER, "the fire"),
    ],
)
def test_an_event_reference_has_its_direction_and_phrase(query: str, direction: ReferenceSide, phrase: str) -> None:
    (found,) = analyse_time(query, NOW).event_references
    assert (found.direction, found.phrase) == (direction, phrase)
    assert query[found.begins :].startswith(found.text)


@pytest.mark.parametrize(
    "query",
    [
        "After all, what is it?",
        "Will it work before long?",
        "What is an after-party?",
        "Who should look after the cat?",
        "the day after tomorrow",
        "What did we do the day before yesterday?",
        "Who was named after the king?",
        "Whom does he take after, his father?",
        "Who ran after the thief?",
        "Who knelt before the king?",
        "When was the bridge built?",
        "When did she leave?",
        "Do you know when the bridge was built?",
        "Did they live happily ever after?",
        "Once upon a time",
        "What came after?",
        "What did we do since Monday?",
        "python insert element after a match",
        "remove everything after the comma in python",
        "Why did he build a wall around his garden?",
    ],
)
def test_phrases_that_name_no_event_are_not_event_references(query: str) -> None:
    assert analyse_time(query, NOW).event_references == ()


def test_several_event_references_come_in_order_of_the_question() -> None:
    found = analyse_time("What happened after the storm, before the wedding?", NOW).event_references
    assert [anchor.phrase for anchor in found] == ["the storm", "the wedding"]


def test_event_reference_confidence_is_highest_for_what_happened() -> None:
    queries = ("What happened after the storm?", "How did he feel after the storm?", "Who left since the storm?")
    sure = [analyse_time(query, NOW).event_references[0].confidence for query in queries]
    assert sure == sorted(set(sure), reverse=True)
