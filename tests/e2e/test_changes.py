"""Everyday changes, and what is none, told and asked over HTTP with the default model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from support.clients.conversation import Conversation, ids, is_marked, turn
from support.clients.served import serve
from support.data.everyday_changes import CHANGES, FILLERS, MORE_CHANGES, OF_ANOTHER, STAYS
from support.models.minilm_embedder import MiniLmEmbedder
from support.stores.memory import settings_for
from vicw_standalone.app import create_standalone_app
from vicw_standalone.lifecycle.start import Start
from vicw_standalone.wiring import Standalone

HOMES = (turn("lyon", "I live in Lyon.", "01-05"), turn("lamp", "I bought a lamp for the hall.", "01-20"))
JOBS = (
    turn("mill", "I work at the mill.", "01-05"),
    turn("lamp", "I bought a lamp for the hall.", "01-20"),
    turn("bakery", "I started a new job at the bakery.", "02-05"),
    turn("school", "I got a new job at the school.", "02-20"),
)


@asynccontextmanager
async def open_server(store: Path) -> AsyncIterator[Conversation]:
    """Serve a new store with the default model."""
    standalone = Standalone(settings_for(store), MiniLmEmbedder())
    start = Start(standalone)
    await start.open()
    async with serve(create_standalone_app(standalone)) as url, httpx.AsyncClient(base_url=url, timeout=60) as client:
        await start.load(url)
        yield Conversation(client, client)


async def test_what_does_not_replace_is_found_beside_the_other_and_neither_is_marked(store: Path) -> None:
    async with open_server(store) as talk:
        answers = await talk.ask_each(STAYS, FILLERS)
    assert len(STAYS) == 40
    lost = [case for case, answer in zip(STAYS, answers, strict=True) if not {"old", "new"} <= set(ids(answer))]
    assert (lost, [answer["text"] for answer in answers if is_marked(answer)]) == ([], [])


@pytest.mark.parametrize("changes", [CHANGES, MORE_CHANGES], ids=["changes", "more changes"])
async def test_after_an_everyday_change_the_later_statement_is_first_and_the_earlier_is_found(
    store: Path, changes: tuple[tuple[str, str, str], ...]
) -> None:
    async with open_server(store) as talk:
        answers = await talk.ask_each(changes, FILLERS)
    assert len(changes) == 25
    both = zip(changes, answers, strict=True)
    assert [case for case, answer in both if not {"old", "new"} <= set(ids(answer))] == []
    stale = [case for case, answer in zip(changes, answers, strict=True) if ids(answer)[0] != "new"]
    assert len(stale) <= 2, stale


async def test_what_is_told_later_of_something_else_does_not_come_first(store: Path) -> None:
    later = ("We had pancakes for breakfast.", "I repaired the zip of my jacket.", "The park closes at nine.")
    async with open_server(store) as talk:
        for number, (old, _, _) in enumerate(CHANGES):
            others = [turn(f"later {n}", text, f"02-0{n + 1}") for n, text in enumerate(later)]
            await talk.tell(f"{number}", [turn("old", old, "01-05"), *others])
        answers = [await talk.ask(f"{number}", question) for number, (*_, question) in enumerate(CHANGES)]
    first = [case for case, answer in zip(CHANGES, answers, strict=True) if ids(answer)[0] != "old"]
    assert len(first) <= 1, first
    assert not any(map(is_marked, answers))


async def test_what_is_told_later_of_another_does_not_come_first(store: Path) -> None:
    async with open_server(store) as talk:
        answers = await talk.ask_each(OF_ANOTHER, FILLERS)
    both = zip(OF_ANOTHER, answers, strict=True)
    assert [case for case, answer in both if ids(answer)[0] != "old"] == []


async def test_of_several_later_statements_the_latest_is_first_and_brings_the_earlier_along(store: Path) -> None:
    async with open_server(store) as talk:
        await talk.tell("jobs", JOBS)
        assert ids(await talk.ask("jobs", "Where do I work?"))[:2] == ["school", "mill"]
        alone = await talk.ask("jobs", "Where do I work?", limit=1)
    assert ids(alone) == ["school"]
    assert [(one["relation"], one["id"]) for one in alone["results"][0]["changes"]] == [("earlier", "mill")]
    assert "\n    earlier, 2026-01-05: I work at the mill." in alone["text"]


@pytest.mark.parametrize("query", ["Where did I work?", "Where did I work before?", "When was I at the mill?"])
async def test_a_question_about_the_past_is_not_reordered(store: Path, query: str) -> None:
    async with open_server(store) as talk:
        await talk.tell("jobs", JOBS)
        answer = await talk.ask("jobs", query, explain=True)
    assert not any("later" in gains for gains in answer["explain"]["boosts"].values())


async def test_a_question_about_the_beginning_gets_the_earliest_first(store: Path) -> None:
    readings = [
        turn(f"r{day:02}", f"The water meter shows {412 + 3 * day} litres.", f"01-{day:02}") for day in range(1, 29)
    ]
    async with open_server(store) as talk:
        await talk.tell("meter", readings)
        beginning = await talk.ask("meter", "What did the water meter show at the beginning of January?")
        now = await talk.ask("meter", "What does the water meter show?")
    assert ids(beginning)[0] == "r01"
    assert ids(now)[0] == "r28"


@pytest.mark.parametrize(
    ("correction", "question"),
    [
        ("No, that was wrong: my flight leaves from terminal two.", "Which terminal does my flight leave from?"),
        ("Scrap that, the flight leaves from terminal two.", "Which terminal does my flight leave from?"),
        ("Please forget what I said about the terminal of my flight.", "Which terminal does my flight leave from?"),
    ],
)
async def test_a_correction_marks_what_it_takes_back(store: Path, correction: str, question: str) -> None:
    items = [
        turn("old", "My flight leaves from terminal one.", "01-05"),
        turn("other", "My suitcase is blue.", "01-20"),
        turn("new", correction, "02-05"),
    ]
    async with open_server(store) as talk:
        await talk.tell("trip", items)
        answer = await talk.ask("trip", question)
    assert ids(answer)[:2] == ["new", "old"]
    beside = {one["id"]: [(change["relation"], change["id"]) for change in one["changes"]] for one in answer["results"]}
    assert beside == {"new": [("corrects", "old")], "old": [("corrected_by", "new")], "other": []}
    assert f"\n    until 2026-02-05; since then: {correction}" in answer["text"]
    assert "\n    since 2026-02-05; until then: My flight leaves from terminal one." in answer["text"]


@pytest.mark.parametrize("new", ["I live in Turin now.", "No, that was wrong: I live in Turin."])
async def test_a_viewer_for_whom_the_later_statement_is_hidden_does_not_learn_of_it(store: Path, new: str) -> None:
    items = [HOMES[0], HOMES[1], turn("new", new, "02-05", sensitivity="personal", about=["rosa"])]
    async with open_server(store) as talk:
        await talk.tell("homes", items)
        seen = await talk.ask("homes", "Where do I live?", viewer={"user": "rosa"})
        hidden = await talk.ask("homes", "Where do I live?", viewer={"user": "tom"})
    assert ids(seen)[0] == "new"
    assert ids(hidden) == ["lyon", "lamp"]
    assert not is_marked(hidden)
    assert "Turin" not in str(hidden)


async def test_each_reading_of_a_series_is_found(store: Path) -> None:
    readings = {f"r{day:02}": f"The water meter shows {412 + 3 * day} litres." for day in range(1, 29)}
    turns = [turn(key, text, f"01-{key[1:]}") for key, text in readings.items()]
    async with open_server(store) as talk:
        await talk.tell("meter", turns)
        questions = ("How did the water meter develop?", "What did the water meter show before?", "Water meter?")
        answers = [await talk.ask("meter", question, limit=40) for question in questions]
    for answer in answers:
        assert set(ids(answer)) == readings.keys()
        assert not is_marked(answer), answer["text"]
