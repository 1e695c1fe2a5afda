"""What is known of those who take part comes up, in every context, as far as the asker may see it (seed 004)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from support.answers.explanation import explained
from support.stores.memory import Memory
from vicw_retrieval.channels.graph.people import HOPS
from vicw_retrieval.pipeline import retrieve
from vicw_shared.settings import RetrievalSettings
from vicw_shared.wire.retrieve import RetrieveRequest

FILLER = tuple({"id": f"f{n}", "text": f"Gifts for the feast, list {n}: candles, paper {n}."} for n in range(40))
QUERY = "Which gifts for the feast?"


async def rank_of(memory: Memory, uid: str, *, people: bool = True, **fields: Any) -> int | None:
    ports = memory.standalone.retrieval_ports()
    ports = replace(ports, settings=RetrievalSettings(spread_ms=20_000, people_match=people))
    request = RetrieveRequest.model_validate({"query": QUERY, "limit": 200, **fields})
    answer = await retrieve(request, memory.tenant, ports)
    return next((result.rank for result in answer.results if result.id == uid), None)


@pytest.mark.parametrize("chat", ["private", "group"])
async def test_items_about_a_participant_are_found_in_other_contexts(memory: Memory, chat: str) -> None:
    liked = {
        "id": "liked",
        "text": "Old maps are gifts, or so she says, that one treasures most at the feast.",
        "about": ["Mara"],
    }
    await memory.ingest(liked, context="letters")
    await memory.ingest(*FILLER)
    viewer = {"user": "Ben", "chat": chat, "participants": ["Mara"]}
    before, after = [await rank_of(memory, "liked", people=on, viewer=viewer) for on in (False, True)]
    assert before is not None
    assert after is not None
    assert after < before
    assert await rank_of(memory, "liked", viewer=viewer | {"participants": ["Tom"]}) == before


async def test_private_items_are_found_only_for_their_subject(memory: Memory) -> None:
    secret = {"id": "s", "text": "Old maps are gifts for a feast.", "about": ["Mara"], "sensitivity": "sensitive"}
    await memory.ingest(secret, context="letters")
    await memory.ingest(*FILLER)
    assert await rank_of(memory, "s", viewer={"user": "Ben", "chat": "private", "participants": ["Mara"]}) is None
    assert await rank_of(memory, "s", viewer={"user": "Mara", "chat": "group", "participants": ["Ben"]}) is None
    assert await rank_of(memory, "s", viewer={"user": "Mara", "chat": "private"}) is not None


async def test_items_about_a_relative_gain_less_than_those_about_the_viewer(memory: Memory) -> None:
    people = {
        "entities": [{"id": "m", "name": "Mara", "subtype": "person"}, {"id": "i", "name": "Ida", "subtype": "person"}],
        "relations": [{"source": "m", "type": "HAS_RELATIONSHIP", "target": "i"}],
    }
    kin = {"id": "kin", "text": "They are sisters.", "extraction": people}
    of = [{"id": name, "text": "Maps of old are gifts for the feast.", "about": [name]} for name in ("Mara", "Ida")]
    await memory.ingest(kin, *of, {"id": "Tom", "text": "Maps of old are gifts for Tom.", "about": ["Tom"]}, *FILLER)
    viewer = {"user": "Mara", "chat": "private"}
    on = {"people_match": True, "duplicate_share": 0.0}
    asked = await explained(memory, QUERY, on, viewer=viewer, limit=50)
    gains = dict(asked.gains("people"))
    assert {"Mara", "Ida"} <= gains.keys(), "though Ida, too, is whom a result is about"
    assert "Tom" not in gains
    assert gains["Ida"] == pytest.approx(gains["Mara"] * HOPS[1] / HOPS[0])
    assert HOPS == (0.5, 0.3)
