"""What rules infer from two values orders and dates both statements; only a stated change decides what holds now."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from support.fakes.chat_server import NOTHING
from support.fakes.chat_server import extraction_json as answered
from support.stores.llm_extraction import Story, claim, open_story_with_model
from support.stores.pairs import Side, asked_for
from vicw_shared.wire.retrieve import RetrieveResponse

YORK, LEEDS, BATH = "I live in York.", "My flat is in Leeds.", "I moved to Bath."
WEIGHTS = {day: f"The crate weighs {90 - day} kg." for day in range(1, 8)}
QUESTION = "Where does Lena live?"


def home(text: str, city: str, **fields: Any) -> str:
    return answered(claims=[claim(text, "$speaker", "home", city, **fields)])


ANSWERS = {
    YORK: home(YORK, "York"),
    LEEDS: home(LEEDS, "Leeds"),
    BATH: home(BATH, "Bath", changed=True),
    **{
        text: answered(
            entities=[{"id": "e1", "name": "crate", "subtype": "thing"}],
            claims=[claim(text, "e1", "age", f"{90 - day} kg")],
        )
        for day, text in WEIGHTS.items()
    },
}


def answer(body: dict[str, Any]) -> str:
    return ANSWERS.get(json.loads(body["messages"][-1]["content"])["text"], NOTHING)


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def story(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Story]:
    async with asked_for(request, store) as opened, open_story_with_model(opened, answer) as read:
        yield read


def at(day: int, minute: int = 0) -> str:
    return f"2026-03-{day:02d}T09:{minute:02d}:00+00:00"


def turn(key: str, timestamp: str, text: str, speaker: str = "Lena", **fields: Any) -> dict[str, Any]:
    return {"id": key, "text": text, "speaker": speaker, "timestamp": timestamp, **fields}


async def tell(story: Story, *items: dict[str, Any]) -> None:
    await story.ingest(*items, domain="general")
    await story.settle()


async def asked(side: Side, query: str = QUESTION, **fields: Any) -> RetrieveResponse:
    return await side.retrieve({"query": query, "context": "c", "limit": 20, **fields}, "t")


def ids(answer: RetrieveResponse) -> list[str | None]:
    return [result.id for result in answer.results]


async def ends(side: Side, field: str) -> dict[str, str | None]:
    live = [node for node in (await side.nodes()).values() if node.is_statement and node.retired_at is None]
    found = {str(node.text): getattr(node, field) for node in live}
    return {text: end.isoformat() if end else None for text, end in found.items()}


async def test_an_inferred_successor_comes_first_and_dates_what_stays_found(story: Story) -> None:
    await tell(story, turn("a", at(1), YORK), turn("b", at(5), LEEDS))
    assert await story.replaced() == {(LEEDS, "SUPERSEDES", YORK)}
    assert await ends(story.side, "valid_to") == {YORK: at(5), LEEDS: None}
    assert await ends(story.side, "superseded_at") == {YORK: None, LEEDS: None}
    now = await asked(story.side)
    assert ids(now) == ["b", "a"]
    assert f"until 2026-03-05; since then: {LEEDS}" in now.text, now.text
    assert f"since 2026-03-05; until then: {YORK}" in now.text, now.text
    assert "replace" not in now.text, now.text
    assert "until 2026-03-04; since then" in (await asked(story.side, timezone="Pacific/Pago_Pago")).text
    assert set(ids(await asked(story.side, as_of=at(8)))) == {"a", "b"}
    assert ids(await asked(story.side, as_of=at(3))) == ["a"]


async def test_a_stated_successor_hides_the_earlier_from_the_present_alone(story: Story) -> None:
    await tell(story, turn("a", at(1), YORK), turn("b", at(5), BATH))
    assert await ends(story.side, "superseded_at") == {YORK: at(5), BATH: None}
    assert ids(await asked(story.side)) == ["b"]
    assert ids(await asked(story.side, as_of=at(8))) == ["b"]
    assert ids(await asked(story.side, as_of=at(3))) == ["a"]
    before = await asked(story.side, "Where did Lena live before?")
    assert set(ids(before)) == {"a", "b"}, "a word for history asks for what held then"
    assert f"replaced by: {BATH}" in before.text, before.text


async def test_a_series_of_readings_is_no_replacement(story: Story) -> None:
    await tell(story, *(turn(f"w{day}", at(day), text) for day, text in WEIGHTS.items()))
    assert await story.replaced() == set()
    assert set((await ends(story.side, "valid_to")).values()) == {None}
    weighed = await asked(story.side, "What does the crate weigh?")
    assert set(ids(weighed)) == {f"w{day}" for day in WEIGHTS}
    assert "until" not in weighed.text, weighed.text


async def test_a_person_who_changes_their_mind_all_the_time_loses_no_statement(story: Story) -> None:
    turns = [turn(f"n{n}", at(1, 5 * n), (YORK, LEEDS)[n % 2]) for n in range(10)]
    await tell(story, *turns)
    answer = await asked(story.side)
    texts = {result.text for result in answer.results}
    assert texts == {YORK, LEEDS}
    assert await ends(story.side, "superseded_at") == {YORK: None, LEEDS: None}


async def test_two_people_who_contradict_each_other_both_stay_found(story: Story) -> None:
    await tell(story, turn("a", at(1), YORK), turn("b", at(2), LEEDS, "Tom"), turn("c", at(3), BATH, "Mia"))
    assert await story.replaced() == set()
    assert set(ids(await asked(story.side, "Who lives where?"))) == {"a", "b", "c"}


async def test_a_viewer_without_the_later_statement_sees_no_mark_of_it(story: Story) -> None:
    await tell(story, turn("a", at(1), YORK), turn("b", at(5), LEEDS, sensitivity="personal", about=["Lena"]))
    seen = await asked(story.side, viewer={"user": "Ben", "chat": "group"})
    assert ids(seen) == ["a"]
    assert "until" not in seen.text
    assert LEEDS not in seen.model_dump_json()
