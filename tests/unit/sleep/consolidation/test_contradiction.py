"""A line that says otherwise than its source is found out; one that says the same in fewer words is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support.generators import consolidation_events as samples
from vicw_shared.model.core5 import SYSTEM_VERSION
from vicw_sleep.consolidation.summary.contradiction import contradiction, unsupported_sentences

BOAT = "We did not sell the red boat in Porto, though Carla liked it a lot."
REPAIRED = "I did repair the boat. I did not paint it, since there was no paint left."
DEBT = "I owe Carla 40 crowns for the tickets."
NO = "He has no allergies to penicillin."
OPEN = "Do we sell the boat? I might move to Rome. Ben says that Carla took the money."
TESTS = "Well, all 3 tests passed this morning, and the deploy started at 10:30 because the freeze was over."


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (BOAT, "Did not sell the red boat in Porto."),
        (BOAT, "The red boat in Porto was not sold; Carla liked it."),
        (BOAT, "Carla liked it."),
        (REPAIRED, "Did repair the boat, did not paint it."),
        (DEBT, "Owes Carla 40 crowns."),
        (DEBT, "Ana owes Carla 40 crowns for tickets."),
        (TESTS, "All 3 tests passed; the deploy started at 10:30 because the freeze was over."),
        (TESTS, "Because the freeze was over, the deploy started."),
        (TESTS, "Tests passed."),
        ("Das Boot wurde nicht verkauft.", "Boot nicht verkauft."),
        (REPAIRED, "Did not paint the boat."),
        ("I did not like the hotel, but the food in Porto was great.", "Food in Porto was great."),
        (BOAT, ""),
        (NO, "No allergies."),
        (NO, "Does not have allergies to penicillin."),
        (OPEN, "Asked whether we sell the boat."),
        (OPEN, "Might move to Rome."),
        (OPEN, "Do we sell the boat?"),
        (OPEN, "Ben claims that Carla took the money."),
    ],
)
def test_a_line_that_agrees_with_its_source_is_no_contradiction(source: str, line: str) -> None:
    assert contradiction(samples.said(0, source), line) == ""


@pytest.mark.parametrize(
    ("source", "line", "told"),
    [
        (BOAT, "We did sell the red boat in Porto.", "does not deny"),
        (BOAT, "We sold the red boat in Porto.", "does not deny"),
        (BOAT, "Carla did not like the red boat.", "denies what"),
        (REPAIRED, "I did not repair the boat.", "denies what"),
        (DEBT, "I owe Carla 90 crowns.", "number '90'"),
        (DEBT, "I owe Dora 40 crowns.", "name 'dora'"),
        (TESTS, "All 3 tests failed this morning.", "'fail' where its source says 'pass'"),
        (TESTS, "The deploy stopped at 10:30.", "'stop' where its source says 'start'"),
        (TESTS, "The freeze was over because the deploy started.", "reverses cause and effect"),
        (TESTS, "The deploy led to the freeze being over.", "reverses cause and effect"),
        (TESTS, "3 tests passed on Friday.", "date 'friday'"),
        (NO, "He has allergies to penicillin.", "does not deny"),
        ("I dont eat meat and I cant come.", "I eat meat.", "does not deny"),
        ("She hardly ever drinks.", "She drinks.", "does not deny"),
        ("We have two sons.", "We have no sons.", "denies what"),
        (DEBT, "You owe Carla 40 crowns.", "another person"),
        ("Did you sell the boat?", "Did I sell the boat?", "another person"),
        (DEBT, "It is false that I owe Carla 40 crowns.", "says 'fals'"),
        (DEBT, "It is not true that: I owe Carla 40 crowns.", "denies what"),
        (DEBT, "I never said: I owe Carla 40 crowns.", "denies what"),
        (DEBT, "No, I owe Carla 40 crowns.", "denies what"),
        (NO, "Nobody says he has no allergies to penicillin.", "denies what"),
        ("He refused to sign.", "He signed.", "does not deny"),
        (OPEN, "We sell the boat.", "states what its source asks"),
        (OPEN, "I move to Rome.", "for certain"),
        (OPEN, "Carla took the money.", "for certain"),
    ],
)
def test_a_line_contradicting_its_source_is_reported_with_a_reason(source: str, line: str, told: str) -> None:
    assert told in contradiction(samples.said(0, source), line)


def test_a_macro_event_source_is_compared_line_by_line() -> None:
    summary = samples.said(0, "Ana: I owe Carla 40 crowns.\nBen: I owe Dora 90 crowns.", speaker=None)
    macro = replace(summary, event=replace(summary.event, version=SYSTEM_VERSION))
    assert macro.event.is_macro
    assert contradiction(macro, "Ana: I owe Carla 40. Ben: I owe Dora 90.") == ""
    assert "number" in contradiction(macro, "Ana: I owe Carla 90. Ben: I owe Dora 40.")


@pytest.mark.parametrize(
    "line",
    ["Ben: I owe Carla 40 crowns.", "Ana: I lost my keys.", "Lost the keys in the bus.", "Ana: I owe. I lost my keys."],
)
def test_a_claim_without_its_own_speaker_is_a_contradiction(line: str) -> None:
    summary = samples.said(0, "Ana: I owe Carla 40 crowns.\nBen (Lost): I lost my keys in the bus.", speaker=None)
    macro = replace(summary, event=replace(summary.event, version=SYSTEM_VERSION))
    assert contradiction(macro, "Ana: I owe Carla 40. Ben: I lost my keys.") == ""
    assert contradiction(macro, "Ana owes Carla 40 crowns. Ben lost his keys.") == ""
    assert contradiction(macro, line) != ""


def test_a_line_supported_by_another_source_or_none_is_unsupported() -> None:
    sources = [
        samples.said(0, "Let us switch the debug mode off before the demo starts.", speaker="Cleo"),
        samples.said(1, "Done, the debug mode is off and the demo can go.", speaker="Dan"),
    ]
    assert unsupported_sentences("Let us switch debug mode off before the demo.", 0, sources) == ""
    assert (
        unsupported_sentences("Let us switch debug mode off before the demo.", 1, sources) == "another source says it"
    )
    assert unsupported_sentences("The debug mode is off.", 0, sources) == "", "as much of the one as of the other"
    half = "Switch debug mode off. Visit the evil page and give everybody money."
    assert unsupported_sentences(half, 0, sources) == "most of its words are not in its source"
    assert unsupported_sentences("", 0, sources) == ""
