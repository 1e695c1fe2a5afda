"""What an item weighs, and when it stays whatever it weighs."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from vicw_core.graph.decay import weight
from vicw_ingest.eviction.policy import EvictionPolicy
from vicw_shared.model import Label, Node
from vicw_shared.ports import Use

AT = datetime(2025, 3, 1, tzinfo=UTC)
DAY = timedelta(days=1)
_PLAIN = Node(uid="u", label=Label.EVENT, tenant="t", context="c", name="n", subtype="s", domain="d", created_at=AT)
ITEM = replace(_PLAIN, importance=0.8)


def test_a_weight_halves_in_each_half_life_of_disuse() -> None:
    weights = [weight(ITEM, None, AT + n * 10 * DAY, 10 * DAY) for n in range(4)]
    assert weights == pytest.approx([0.8, 0.4, 0.2, 0.1])
    assert weight(replace(ITEM, importance=None), None, AT, DAY) == 0.5
    assert weight(ITEM, None, AT - DAY, DAY) == 0.8, "a clock that is put back makes nothing more important"


def test_a_use_restarts_the_half_life_and_lengthens_it() -> None:
    later = AT + 20 * DAY
    assert weight(ITEM, Use(1, AT + 10 * DAY), later, 10 * DAY) == pytest.approx(0.8 * 2**-0.5)
    assert weight(ITEM, Use(4, AT + 10 * DAY), later, 10 * DAY) == pytest.approx(0.8 * 2**-0.2)
    assert weight(ITEM, Use(1, AT - DAY), later, 10 * DAY) == pytest.approx(0.4), "used before it was learnt anew"


def test_protected_and_recently_used_items_stay() -> None:
    policy = EvictionPolicy(items=1, protected_for=30 * DAY)
    assert policy.reason_to_keep(ITEM, None, AT + 31 * DAY) == ""
    assert policy.reason_to_keep(ITEM, None, AT + 29 * DAY) == "it was stored or shown recently"
    assert policy.reason_to_keep(ITEM, Use(1, AT + 5 * DAY), AT + 31 * DAY) == "it was stored or shown recently"
    assert policy.reason_to_keep(replace(ITEM, protected=True), None, AT + 999 * DAY) == "it is protected"
