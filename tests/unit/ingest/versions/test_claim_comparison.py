"""Which claimed values of one attribute exclude, end or repeat each other."""

from __future__ import annotations

import pytest

from vicw_ingest.versions.claim_comparison import ClaimedValue, agrees, supersedes


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Lyon", "Porto"),
        ("8080", "9090"),
        ("Monday at 10", "Thursday at 10"),
        ("9:30", "at ten"),
        ("12 June", "3 July"),
        ("12 euros", "14 euros"),
        ("555-1234", "555-9876"),
        ("30 seconds", "60 seconds"),
        ("Dr Ruiz", "Dr Patel"),
    ],
)
def test_a_different_value_supersedes_the_older_claim(older: str, newer: str) -> None:
    assert supersedes(ClaimedValue(newer), ClaimedValue(older))
    assert not agrees(ClaimedValue(newer), ClaimedValue(older))


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Lyon", "Lyon, near the river"),
        ("Monday", "10:00"),
        ("3pm", "15:00"),
        ("June", "12 June"),
        ("30 euros a month", "360 euros a year"),
        ("about 900 euros", "950 euros"),
        ("nine", "ten on Fridays"),
        ("a bank", "Pellmore"),
        ("Berlin", "the Berlin office"),
    ],
)
def test_compatible_claims_supersede_nothing(older: str, newer: str) -> None:
    assert not supersedes(ClaimedValue(newer), ClaimedValue(older))


def test_an_ended_claim_supersedes_the_value_it_names_or_any() -> None:
    acme, ended = ClaimedValue("Acme"), ClaimedValue("Acme", ended=True)
    assert supersedes(ended, acme)
    assert supersedes(ClaimedValue("", ended=True), acme)
    assert not supersedes(ClaimedValue("Globex", ended=True), acme)
    assert supersedes(acme, ended), "it holds again"


def test_a_weak_claim_supersedes_only_with_a_stated_change() -> None:
    jess = ClaimedValue("Jess", weak=True)
    assert not supersedes(ClaimedValue("Anouk", weak=True), jess)
    assert supersedes(ClaimedValue("Anouk", weak=True, now=True), jess)


def test_a_claim_with_more_detail_agrees_with_the_older_claim() -> None:
    assert agrees(ClaimedValue("port 8080"), ClaimedValue("8080"))
    assert agrees(ClaimedValue("Lyon, near the river"), ClaimedValue("Lyon"))
    assert not agrees(ClaimedValue("9090"), ClaimedValue("8080"))
    assert not agrees(ClaimedValue("", ended=True), ClaimedValue("8080"))
