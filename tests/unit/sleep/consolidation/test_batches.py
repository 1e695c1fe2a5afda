"""Which neighbours go together, and which never do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from support.generators.consolidation_events import AT, said
from vicw_shared.model import Sensitivity
from vicw_shared.ports import Use
from vicw_shared.settings import ConsolidationSettings
from vicw_sleep.consolidation.batches import ConsolidationRules, batches, may_consolidate
from vicw_sleep.consolidation.model import SourceEvent

RULES = ConsolidationRules(before=AT + timedelta(hours=1))


def steps(flow: Sequence[SourceEvent], rules: ConsolidationRules = RULES, **how: bool) -> list[list[int]]:
    return [[(one.event.flow_step or 0) - 1 for one in batch] for batch in batches(flow, rules, **how)]


def flow(count: int, **at: dict[str, Any]) -> list[SourceEvent]:
    """Return so many turns; ``n3={...}`` gives the fourth other fields."""
    return [said(n, f"Turn number {n}.", **at.get(f"n{n}", {})) for n in range(count)]


@pytest.mark.parametrize(
    ("count", "sizes"),
    [(0, []), (2, []), (3, [3]), (5, [5]), (6, [3, 3]), (7, [4, 3]), (10, [5, 5]), (11, [4, 4, 3]), (100, [5] * 20)],
)
def test_runs_are_split_evenly_into_batches_of_at_most_five(count: int, sizes: list[int]) -> None:
    found = steps(flow(count))
    assert [len(batch) for batch in found] == sizes
    assert [n for batch in found for n in batch] == list(range(count))[: sum(sizes)], "in order, none twice"


@pytest.mark.parametrize(
    "kept",
    [
        {"protected": True},
        {"importance": 0.7},
        {"busy": True},
        {"created_at": AT + timedelta(hours=2)},
        {"qdrant_id": None},
        {"version": 0, "metadata": {"level": 2}},
    ],
)
def test_protected_recent_or_unfinished_events_split_a_run(kept: dict[str, Any]) -> None:
    assert steps(flow(7, n3=kept)) == [[0, 1, 2], [4, 5, 6]]


def test_events_not_yet_indexed_are_not_consolidated() -> None:
    turns = flow(7)
    turns[3] = replace(turns[3], passages=(replace(turns[3].passages[0], indexed=False),))
    assert steps(turns) == [[0, 1, 2], [4, 5, 6]]
    turns[3] = replace(turns[3], passages=())
    assert steps(turns) == [[0, 1, 2], [4, 5, 6]]


@pytest.mark.parametrize(
    "other",
    [
        {"sensitivity": Sensitivity.PERSONAL},
        {"portable": False},
        {"about": frozenset({"ana"})},
        {"expires_at": AT + timedelta(days=9)},
        {"superseded_at": AT},
        {"domain": "coding"},
        {"bucket": "work"},
        {"version": 0, "metadata": {"level": 1}, "created_at": AT - timedelta(days=2)},
    ],
)
def test_a_batch_never_mixes_visibility_expiry_domain_or_level(other: dict[str, Any]) -> None:
    assert steps(flow(5)) == [[0, 1, 2, 3, 4]]
    assert steps(flow(5, n3=other, n4=other)) == [[0, 1, 2]]
    assert steps(flow(8, **{f"n{n}": other for n in range(3, 8)})) == [[0, 1, 2], [3, 4, 5, 6, 7]]


def test_a_long_pause_separates_batches() -> None:
    turns = [said(n, f"Turn number {n}.", minute=n if n < 3 else n + 31) for n in range(8)]
    assert steps(turns) == [[0, 1, 2], [3, 4, 5, 6, 7]]
    assert steps(turns, replace(RULES, max_pause=timedelta(hours=1))) == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_a_batch_never_crosses_a_change_of_topic() -> None:
    garden = "The tomatoes and beans in the garden need water and compost before summer."
    server = "Redis timeouts broke checkout; raise the pool size in production config."
    turns = [said(n, garden if n < 4 else server) for n in range(8)]
    assert steps(turns) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert steps(turns, replace(RULES, min_cohesion=0.0)) == [[0, 1, 2, 3], [4, 5, 6, 7]], "eight are four and four"
    assert steps(turns[1:6], replace(RULES, min_cohesion=0.0)) == [[1, 2, 3, 4, 5]]
    assert steps(turns[1:6]) == [[1, 2, 3]]


def test_macro_events_are_consolidated_again_only_after_a_delay() -> None:
    first = {"version": 0, "metadata": {"level": 1}, "created_at": AT - timedelta(hours=22)}
    turns = flow(3, n0=first, n1=first, n2=first)
    assert steps(turns) == []
    assert steps(turns, replace(RULES, before=AT + timedelta(hours=3))) == [[0, 1, 2]]
    assert steps(turns, replace(RULES, before=AT + timedelta(hours=3), levels=1)) == []


def test_the_end_of_an_ongoing_flow_is_not_consolidated() -> None:
    assert steps(flow(10), ended=False) == [[0, 1, 2, 3, 4]]
    assert steps(flow(4), ended=False) == []


def test_recently_used_events_split_a_run() -> None:
    shown = flow(7, n3={"use": Use(1, AT)})
    assert steps(shown, replace(RULES, used_since=AT)) == [[0, 1, 2], [4, 5, 6]]
    assert steps(shown, replace(RULES, used_since=AT + timedelta(seconds=1))) == [[0, 1, 2, 3], [4, 5, 6]]
    assert steps(shown) == [[0, 1, 2, 3], [4, 5, 6]]


def test_an_important_event_is_kept_until_its_importance_decays() -> None:
    rules = replace(RULES, half_life=timedelta(days=100))

    def kept(importance: float, days: float, **fields: Any) -> bool:
        turns = flow(7, n3={"importance": importance, **fields})
        return steps(turns, replace(rules, before=AT + timedelta(days=days))) == [[0, 1, 2], [4, 5, 6]]

    assert kept(0.7, 99)
    assert not kept(0.7, 101)
    assert kept(1.0, 150)
    assert not kept(1.0, 152)
    assert not kept(0.69, 1), "it never was so important"
    assert kept(0.7, 101, use=Use(1, AT + timedelta(days=20)))
    assert kept(0.7, 101, protected=True)
    assert steps(flow(7, n3={"importance": 0.7}), replace(RULES, before=AT + timedelta(days=9999))) == [
        [0, 1, 2],
        [4, 5, 6],
    ]


@pytest.mark.parametrize(
    ("kept", "least", "worth"),
    [({}, 3, True), ({"n2": {"protected": True}}, 3, False), ({"n0": {"protected": True}}, 4, True)],
)
def test_may_consolidate_needs_enough_consecutive_eligible_events(
    kept: dict[str, Any], least: int, worth: bool
) -> None:
    events = [one.event for one in flow(5, **kept)]
    assert may_consolidate(events, replace(RULES, min_size=least)) == worth


@pytest.mark.parametrize(("days", "half_life"), [(0, None), (1e-12, None), (2, timedelta(days=2))])
def test_a_half_life_setting_of_zero_means_no_half_life(days: float, half_life: timedelta | None) -> None:
    assert ConsolidationSettings(half_life_days=days).half_life == half_life
