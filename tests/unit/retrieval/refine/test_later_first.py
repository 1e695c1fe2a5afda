"""Of statements that answer a question about the present alike, the later comes first; everything else stays."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from support.fakes.hash_embedder import HashEmbedder
from support.stores.memory import Memory, open_memory
from vicw_core.language.statement_words import is_correction, is_plain, is_unsure, speaks_of_self, subject_terms
from vicw_retrieval.pipeline import retrieve
from vicw_retrieval.refine.later_first import LATER
from vicw_shared.errors import UnavailableError
from vicw_shared.wire.retrieve import RetrieveRequest, RetrieveResponse

ASKED = "Am I a vegetarian?"
OLD = {"id": "old", "text": "I am a vegetarian.", "speaker": "Rosa", "timestamp": "2026-01-05T10:00:00Z"}
NEW = {"id": "new", "text": "I eat meat again.", "speaker": "Rosa", "timestamp": "2026-02-05T10:00:00Z"}
OTHER = {"id": "other", "text": "The bus was late.", "speaker": "Rosa", "timestamp": "2026-02-20T10:00:00Z"}


class FoodEmbedder(HashEmbedder):
    """Texts about food are near to each other."""

    async def embed(self, texts: Any, lane: Any) -> NDArray[np.float32]:
        vectors = await super().embed(texts, lane)
        food = np.eye(1, vectors.shape[1], dtype=np.float32)[0]
        for place, text in enumerate(texts):
            if "meat" in text or "vegetarian" in text:
                mixed = 2 * food + vectors[place]
                vectors[place] = mixed / np.linalg.norm(mixed)
        return vectors


@pytest.fixture
async def fed(store: Path) -> AsyncIterator[Memory]:
    async with open_memory(store, FoodEmbedder()) as memory:
        yield memory


async def ask(memory: Memory, *, later: float = 1.17, query: str = ASKED, **fields: Any) -> RetrieveResponse:
    ports = memory.standalone.retrieval_ports()
    ports = replace(ports, settings=ports.settings.model_copy(update={"later_first": later}))
    request = RetrieveRequest.model_validate({"query": query, "explain": True} | fields)
    return await retrieve(request, memory.tenant, ports)


def moved(answer: RetrieveResponse) -> list[str | None]:
    assert answer.explain is not None
    return [result.id for result in answer.results if LATER in answer.explain.boosts.get(result.uid, {})]


async def tell(memory: Memory, *items: dict[str, Any]) -> None:
    await memory.ingest(*items, OTHER, wait=True)
    await memory.standalone.indexer.drain()


async def test_the_later_statement_comes_right_before_the_earlier(fed: Memory) -> None:
    await tell(fed, OLD, NEW)
    flat, answer = await ask(fed, later=0.0), await ask(fed)
    assert [result.id for result in flat.results][:2] == ["old", "new"], "by likeness alone the old one is first"
    assert [result.id for result in answer.results][:2] == ["new", "old"]
    assert moved(answer) == ["new"]


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        ({"timestamp": "2025-02-05T10:00:00Z"}, {}),
        ({"speaker": "Tom"}, {}),
        ({"text": "I eat meat again. The bus was late. It rained."}, {}),
        ({"text": "I may eat meat again."}, {}),
        ({"text": "Shall I eat meat again?"}, {}),
        ({"text": "Thanks, the meat was funny!"}, {}),
        ({}, {"query": "Was I a vegetarian?"}),
        ({}, {"query": "Was I a vegetarian before?"}),
        ({}, {"as_of": "2026-02-25T00:00:00Z"}),
        ({}, {"known_at": "2036-01-01T00:00:00Z"}),
        ({}, {"channels": ["dense", "bm25"]}),
    ],
    ids=[
        "earlier",
        "another speaker",
        "sentences",
        "a guess",
        "a question",
        "thanks",
        "was",
        "before",
        "then",
        "known",
        "channels",
    ],
)
async def test_what_does_not_answer_alike_or_is_not_asked_about_now_stays(
    fed: Memory, change: dict[str, Any], fields: dict[str, Any]
) -> None:
    await tell(fed, OLD, NEW | change)
    answer = await ask(fed, **fields)
    assert {"old", "new"} <= {result.id for result in answer.results}
    assert moved(answer) == []


async def test_a_statement_of_another_thing_than_the_named_one_does_not_move(fed: Memory) -> None:
    await tell(fed, OLD | {"text": "Dish 17 has meat."}, NEW | {"text": "Dish 18 has meat."})
    assert moved(await ask(fed, query="Is there meat in dish 17?")) == []
    assert moved(await ask(fed, query="Is there meat?")) == ["new"], "nothing is named"
    assert moved(await ask(fed, query="the meat of dish")) == ["new"], "both have all words of both"
    assert moved(await ask(fed, query="dish seventeen has meat")) == ["new"]


async def test_a_text_that_asks_nothing_finds_what_has_its_words(fed: Memory) -> None:
    await tell(fed, OLD, NEW)
    assert moved(await ask(fed, query="I am a vegetarian.")) == []
    assert moved(await ask(fed, query="am i a vegetarian")) == ["new"], "a question without its mark"


async def test_a_statement_of_another_context_does_not_move(fed: Memory) -> None:
    await tell(fed, OLD)
    await fed.ingest(NEW, context="another", wait=True)
    await fed.standalone.indexer.drain()
    answer = await ask(fed)
    assert {"old", "new"} <= {result.id for result in answer.results}
    assert moved(answer) == []


async def test_if_the_stage_fails_the_order_stays_and_the_answer_says_so(
    fed: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tell(fed, OLD, NEW)

    async def down(ids: object) -> dict[str, NDArray[np.float32]]:
        raise UnavailableError("vectors", "is down")

    monkeypatch.setattr(fed.standalone.indexes.read_index.vectors, "dense", down)
    answer = await ask(fed)
    assert [result.id for result in answer.results][:2] == ["old", "new"]
    assert LATER in answer.degraded


@pytest.mark.parametrize(
    ("text", "corrects"),
    [
        ("Correction: the gate is 12.", True),
        ("Oops, I was wrong, the gate is 12.", True),
        ("Ignore what I said about the gate.", True),
        ("Could you forget everything I told you about the gate?", True),
        ("No, the gate is 12.", False),
        ("I forget what the gate was.", False),
        ("Scrap metal is sold at the gate.", False),
        ("Please don't forget the gate.", False),
    ],
)
def test_a_correction_begins_by_taking_something_back(text: str, corrects: bool) -> None:
    assert is_correction(text) is corrects


def test_the_words_of_a_statement() -> None:
    assert is_plain("Dr. Lund retired, so I see Dr. Moreau now.", 1)
    assert not is_plain("", 1)
    assert not is_plain("word " * 61, 1)
    assert not is_unsure("My phone plan costs 25 euros in May.")
    assert speaks_of_self("That is my coat.") and not speaks_of_self("Miya has a coat.")
    assert subject_terms("The standup is at nine on the 5th.") == subject_terms("Is the standup at 9:30?")
