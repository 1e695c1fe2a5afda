"""What ingest makes of an item by itself: who speaks, and what it is about."""

from __future__ import annotations

import pytest

from support.stores.memory import Memory
from vicw_shared.model import Label
from vicw_shared.ports import Direction
from vicw_shared.uids import named_uid


@pytest.mark.parametrize(
    ("speaker", "subtype"),
    [("assistant", "agent"), ("Assistant", "agent"), ("tool", "agent"), ("user", "person"), ("Ana", "person")],
)
async def test_assistant_and_tool_speakers_are_agents_and_others_persons(
    memory: Memory, speaker: str, subtype: str
) -> None:
    response = await memory.ingest({"id": "turn", "text": "Roll the pin back.", "speaker": speaker}, flow_id="chat")
    (initiated,) = await memory.standalone.graph.expand(
        "default", [response.items[0].uid], [("INITIATED", Direction.IN)], 10
    )
    agent = initiated.node
    assert (agent.label, agent.subtype, agent.name) == (Label.ENTITY, subtype, speaker)
    assert agent.uid == named_uid("default", "ctx", subtype, speaker)
    assert (await memory.retrieve("pin")).results[0].speaker == speaker


@pytest.mark.parametrize(
    ("subtypes", "domain"),
    [
        (["function", "Class", "commit"], "coding"),
        (["scene", "chapter"], "creative"),
        (["function", "scene"], "general"),
        (["function", None], "general"),
        (["message"], "general"),
    ],
)
async def test_the_domain_of_a_new_context_follows_its_item_subtypes(
    memory: Memory, subtypes: list[str | None], domain: str
) -> None:
    response = await memory.ingest(*({"text": f"item {n}", "subtype": kind} for n, kind in enumerate(subtypes)))
    assert response.domain == domain
    answer = await memory.retrieve("item")
    assert {result.domain for result in answer.results} == {domain}


async def test_tags_match_in_either_unicode_form_and_are_returned_unchanged(memory: Memory) -> None:
    decomposed, composed = "cafe\u0301", "caf\u00e9"
    await memory.ingest({"id": "a", "text": "coffee at noon", "tags": [decomposed]}, {"id": "b", "text": "coffee"})
    (result,) = (await memory.retrieve("coffee", tags={"all": [composed]})).results
    assert (result.id, result.tags) == ("a", (decomposed,))
    assert await memory.found("coffee", tags={"any": [decomposed]}) == ["a"]
