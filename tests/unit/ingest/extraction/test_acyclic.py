"""A cause cannot follow its effect."""

from __future__ import annotations

from typing import Any

import pytest

from support.stores.memory import Memory
from unit.ingest.extraction.test_stored_extraction import ingest_by_rules, live_edges
from vicw_shared.errors import InvalidInputError


def events(*relations: tuple[str, str], **at: str) -> dict[str, Any]:
    names = dict.fromkeys(name for pair in relations for name in pair)
    return {
        "events": [{"name": name, "timestamp": at.get(name)} for name in names],
        "relations": [{"source": one, "type": "CAUSED", "target": two} for one, two in relations],
    }


@pytest.mark.parametrize(
    ("relations", "field"),
    [((("a", "b"), ("b", "a")), "relations[1]"), ((("a", "b"), ("b", "c"), ("c", "a")), "relations[2]")],
)
async def test_a_causal_cycle_in_a_callers_extraction_is_refused(memory: Memory, relations: Any, field: str) -> None:
    with pytest.raises(InvalidInputError, match="closes a cycle") as refused:
        await memory.ingest({"id": "x", "text": "why", "extraction": events(*relations)})
    assert field in str(refused.value)
    assert await memory.found("why") == []


async def test_a_causal_cycle_with_stored_causes_is_refused(memory: Memory) -> None:
    chain = [{"id": name, "text": name, "speaker": "Ana"} for name in "abc"]
    await memory.ingest(*chain, extract="none")
    for one, two in (("a", "b"), ("b", "c")):
        live_edges = {"relations": [{"source": one, "type": "CAUSED", "target": two}]}
        await memory.ingest({"id": one + two, "text": "why", "extraction": live_edges})
    with pytest.raises(InvalidInputError, match="closes a cycle"):
        back = {"relations": [{"source": "c", "type": "CAUSED", "target": "a"}]}
        await memory.ingest({"id": "ca", "text": "why", "extraction": back})


async def test_a_cause_later_than_its_effect_is_refused(memory: Memory) -> None:
    early, late = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"
    with pytest.raises(InvalidInputError, match="later than its effect"):
        await memory.ingest({"id": "x", "text": "why", "extraction": events(("a", "b"), a=late, b=early)})
    await memory.ingest({"id": "x", "text": "why", "extraction": events(("a", "b"), a=early, b=late)})


async def test_rules_leave_out_causes_that_would_close_a_cycle(memory: Memory) -> None:
    text = "The red pump failed because the main valve burst. The main valve burst because the red pump failed."
    await ingest_by_rules(memory, {"id": "x", "text": text})
    assert len(await live_edges(memory, "CAUSED")) == 1
