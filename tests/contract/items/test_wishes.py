"""A text that asks to forget something forgets nothing: its outcome says what it may mean, on both pairs of stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from support.stores.pairs import Side, asked_for
from vicw_shared.wire.ingest import IngestedItem

WISH = "Please forget what I said about the PIN hint."


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


def said(key: str, text: str, day: int = 5, **fields: Any) -> dict[str, Any]:
    return {"id": key, "text": text, "speaker": "Rosa", "timestamp": f"2026-01-{day:02}T10:00:00Z"} | fields


async def outcome(side: Side, *items: dict[str, Any], context: str = "ctx") -> IngestedItem:
    """Store items; return what became of the last of them."""
    return (await side.ingest({"context": context, "items": items}, "default", None)).items[-1]


def meant(item: IngestedItem) -> list[str | None] | None:
    return None if item.forget is None else [one.id for one in item.forget.may_mean]


async def test_a_wish_may_mean_what_its_speaker_said_before_of_the_same(side: Side) -> None:
    await outcome(
        side,
        said("hint", "My PIN hint is the year my grandmother was born."),
        said("tea", "I said that the tea is cold."),
        said("other", "My PIN hint is a tree.", speaker="Tom"),
        said("later", "My new PIN hint is a song.", 20),
    )
    await outcome(side, said("elsewhere", "The PIN hint is on the wall."), context="another")
    wish = await outcome(side, said("wish", WISH, 10))
    assert meant(wish) == ["hint"]
    assert meant(await outcome(side, said("wish", WISH, 10))) == ["hint"], "sent again"
    assert meant(await outcome(side, said("again", f"{WISH} Really.", 11))) == ["hint"], "not the wish itself"


async def test_a_wish_may_mean_an_item_of_its_own_request(side: Side) -> None:
    wish = await outcome(side, said("hint", "My PIN hint is a tree."), said("wish", WISH, 10))
    assert meant(wish) == ["hint"]


async def test_a_job_says_what_a_wish_may_mean_by_the_time_it_is_asked(side: Side) -> None:
    await outcome(side, said("hint", "My PIN hint is a tree."), said("song", "My PIN hint was a song before."))
    started = await side.ingest({"context": "ctx", "items": [said("wish", WISH, 10)], "wait": False}, "default", None)
    assert started.job is not None and sorted(map(str, meant(started.items[0]) or ())) == ["hint", "song"]
    await side.indexer.drain()
    await side.retract({"context": "ctx", "ids": ["song"]}, "default")
    status = await side.job(started.job, "default")
    assert status.result is not None and meant(status.result.items[0]) == ["hint"]


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("Forget that.", []),
        ("Please forget my shoe size.", []),
        ("I forget my PIN hint.", None),
        ("Forget-me-nots.", None),
    ],
)
async def test_a_wish_without_a_word_of_anything_means_nothing_known(
    side: Side, text: str, means: list[str] | None
) -> None:
    await outcome(side, said("hint", "My PIN hint is a tree."))
    assert meant(await outcome(side, said("wish", text, 10))) == means
