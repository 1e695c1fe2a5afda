"""What is true now comes before what it replaced, unless the question is about the past."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from support.stores.memory import Memory
from support.stores.model_claims import Claim, add_claim
from vicw_retrieval.intent.history import asks_for_past
from vicw_retrieval.pipeline import retrieve
from vicw_retrieval.refine.current_first import CURRENT, asked_statement
from vicw_shared.errors import UnavailableError
from vicw_shared.wire.retrieve import RetrieveRequest, RetrieveResponse

OLD = {
    "id": "old",
    "timestamp": "2026-05-04T09:00:00Z",
    "text": "Ingrid does vegetarian catering. Ingrid lives in Bergen.",
}
NEW = {
    "id": "new",
    "timestamp": "2026-06-04T09:00:00Z",
    "text": "Nothing much happened here all week and my own garden is a mess. Ingrid moved to Oslo.",
}
NEWEST = {
    "id": "newest",
    "timestamp": "2026-07-04T09:00:00Z",
    "text": "It was too rainy for anybody up there in the north. Ingrid moved to Rome.",
}
OTHERS = tuple({"id": f"o{n}", "text": f"Ingrid waters the plant number {n} in the yard."} for n in range(8))
WHERE = "Where does Ingrid live? Ingrid lives in"


async def ask(memory: Memory, query: str = WHERE, *, current: bool = True, **fields: Any) -> RetrieveResponse:
    ports = memory.standalone.retrieval_ports()
    ports = replace(
        ports, settings=ports.settings.model_copy(update={"current_first": current, "neighbour_lift": False})
    )
    request = RetrieveRequest.model_validate({"query": query, "limit": 10, "explain": True} | fields)
    return await retrieve(request, memory.tenant, ports)


def order(answer: RetrieveResponse) -> list[str | None]:
    return [result.id for result in answer.results]


def moved(answer: RetrieveResponse) -> set[str | None]:
    """Return what was put before something, by its id."""
    assert answer.explain is not None
    return {result.id for result in answer.results if CURRENT in answer.explain.boosts.get(result.uid, {})}


HOMES = {
    "old": Claim("Ingrid lives in Bergen.", "Bergen", owner="Ingrid"),
    "new": Claim("Ingrid moved to Oslo.", "Oslo", owner="Ingrid", changed=True),
    "newest": Claim("Ingrid moved to Rome.", "Rome", owner="Ingrid", changed=True),
}


async def ingest_claims(memory: Memory, *items: Mapping[str, object]) -> None:
    given = [{**item, "speaker": "Olaf"} for item in items]
    stored = await memory.ingest(*given, *OTHERS, extract="rules", wait=True)
    for item, result in zip(items, stored.items, strict=False):
        await add_claim(memory.standalone.graph, memory.tenant, "ctx", result.uid, HOMES[str(item["id"])])
    await memory.standalone.indexer.drain()


async def test_the_current_statement_comes_right_before_the_one_it_supersedes(memory: Memory) -> None:
    await ingest_claims(memory, OLD, NEW)
    flat, answer = order(await ask(memory, current=False)), await ask(memory)
    assert flat.index("old") < flat.index("new"), "by likeness alone the old one is first"
    assert order(answer)[order(answer).index("old") - 1] == "new"
    assert moved(answer) == {"new"}
    assert [one for one in order(answer) if one != "new"] == [one for one in flat if one != "new"]


async def test_only_the_latest_superseding_statement_is_moved_up(memory: Memory) -> None:
    await ingest_claims(memory, OLD, NEW, NEWEST)
    answer = await ask(memory)
    assert moved(answer) == {"newest"}
    assert order(answer).index("newest") < order(answer).index("old")


async def test_a_current_statement_that_no_channel_found_is_brought_in(memory: Memory) -> None:
    await ingest_claims(memory, OLD, NEW)
    answer = await ask(memory, limit=2)
    assert order(answer) == ["new", "old"]


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        ("Where did Ingrid live before? Ingrid lives in", {}),
        ("Does Ingrid do vegetarian catering?", {}),  # that goes on
        (WHERE, {"as_of": "2026-05-20T00:00:00Z"}),
        (WHERE, {"channels": ["dense", "bm25"]}),
    ],
    ids=["the past", "something else it says", "as of then", "channels named"],
)
async def test_without_a_matching_question_superseded_results_keep_their_places(
    memory: Memory, query: str, fields: dict[str, Any]
) -> None:
    await ingest_claims(memory, OLD, NEW)
    answer = await ask(memory, query, **fields)
    assert "old" in order(answer)
    assert moved(answer) == set()
    assert order(answer) == order(await ask(memory, query, current=False, **fields))


@pytest.mark.parametrize("word", ["today", "now", "currently", "this year", "since Monday", "by the old harbour"])
async def test_questions_about_the_present_prefer_the_current_statement(memory: Memory, word: str) -> None:
    await ingest_claims(memory, OLD, NEW)
    answer = await ask(memory, f"Where does Ingrid live {word}? Ingrid lives in", query_time="2026-06-10T12:00:00Z")
    assert moved(answer) == {"new"}
    assert order(answer).index("new") < order(answer).index("old")


@pytest.mark.parametrize(
    "query",
    [
        "Where did Ingrid live in May 2026? Ingrid lives in",
        "Where did Ingrid live a month ago? Ingrid lives in",
        "Where did Ingrid use to live back then? Ingrid lives in",
        "Where did Ingrid live after the move? Ingrid lives in",
        "Where did Ingrid formerly live? Ingrid lives in",
    ],
)
async def test_questions_about_the_past_do_not_move_the_current_statement(memory: Memory, query: str) -> None:
    await ingest_claims(memory, OLD, NEW)
    assert moved(await ask(memory, query, query_time="2026-06-10T12:00:00Z")) == set()


@pytest.mark.parametrize(
    ("query", "past"),
    [
        ("Where did Ingrid use to live?", True),
        ("What was Ingrid's old address?", True),
        ("What is his old phone number?", True),
        ("Who lives at the old harbour?", False),
        ("Which tool do we use to deploy?", False),
        ("How old is Ingrid's cat?", False),
        ("How long ago did Ingrid move?", False),
        ("Where did she live a minute ago?", True),
        ("What does her old mother do?", False),
    ],
)
def test_asks_for_past_recognises_questions_about_the_past(query: str, past: bool) -> None:
    assert asks_for_past(query) is past


async def test_the_passage_with_the_current_statement_is_shown(memory: Memory) -> None:
    meadows = " ".join(
        f"Meadow number {n} was mown on a dry day of that week, and the hay was brought in." for n in range(30)
    )
    await ingest_claims(memory, OLD, NEW | {"text": f"{meadows}\n\nIngrid moved to Oslo."})
    answer = await ask(memory)
    assert moved(answer) == {"new"}
    (new,) = (result for result in answer.results if result.id == "new")
    assert "Oslo" in new.text


def test_the_asked_statement_is_most_similar_and_current_on_a_tie() -> None:
    assert asked_statement(["past", "holds"], {"past"}, {"past": 0.5, "holds": 0.3}) == "past"
    assert asked_statement(["past", "holds"], {"past"}, {"past": 0.5, "holds": 0.5}) == "holds"
    assert asked_statement(["past"], {"past"}, {"past": 0.1}) is None
    assert asked_statement(["past"], {"past"}, {}) is None


async def test_a_hidden_current_statement_is_not_moved_into_the_answer(memory: Memory) -> None:
    await ingest_claims(memory, OLD, NEW | {"sensitivity": "sensitive", "about": ["Ingrid"]})
    answer = await ask(memory, viewer={"user": "Eve", "chat": "private"})
    assert "new" not in order(answer)
    assert moved(answer) == set()


async def test_when_current_first_fails_the_order_stands_and_it_is_degraded(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ingest_claims(memory, OLD, NEW)
    flat = order(await ask(memory, current=False))

    async def fail(*_: object) -> None:
        raise UnavailableError("graph", "is away")

    monkeypatch.setattr("vicw_retrieval.refine.pipeline.prefer_current", fail)
    answer = await ask(memory)
    assert (order(answer), answer.degraded) == (flat, (CURRENT,))
