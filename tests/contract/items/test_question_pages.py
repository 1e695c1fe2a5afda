"""Pages of a question: together a long answer, each item once, whatever is written meanwhile; on both pairs."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from contract.sleep.test_consolidation import consolidate, draft, tell, thread, turn
from support.stores.pairs import Side, asked_for
from vicw_shared.errors import InvalidInputError
from vicw_shared.settings import LimitSettings
from vicw_shared.wire.retrieve import RetrieveResponse

_QUESTION: dict[str, Any] = {"query": "What is known of the harbour?", "limit": 4}
_PLACES = ("quay", "crane", "mole", "dock", "buoy", "ferry", "light", "slip", "pilot", "customs", "winch", "berth")


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


async def fill(side: Side, count: int, **fields: Any) -> None:
    items = [
        {"id": f"i{n}", "text": f"The {_PLACES[n % 12]} of the harbour, number {n * 37}.", "metadata": {"n": n}}
        for n in range(count)
    ]
    await side.ingest({"context": "c", "items": items} | fields, "t", None)
    await side.indexer.drain()


async def page(side: Side, cursor: str | None, **fields: Any) -> RetrieveResponse:
    return await side.retrieve(_QUESTION | fields | ({"cursor": cursor} if cursor else {}), "t")


async def pages(side: Side, **fields: Any) -> list[list[str]]:
    found: list[list[str]] = []
    cursor: str | None = None
    while True:
        answer = await page(side, cursor, **fields)
        assert not set(answer.degraded) - {"pending"}, answer.degraded
        found.append([result.id or result.uid for result in answer.results])
        assert [result.rank for result in answer.results] == list(range(1, len(answer.results) + 1))
        if (cursor := answer.next) is None:
            return found


@pytest.mark.parametrize("channels", [None, ["dense"], ["bm25"], ["fulltext"]], ids=str)
async def test_pages_have_each_item_once_the_best_first(side: Side, channels: list[str] | None) -> None:
    await fill(side, 30)
    found = await pages(side, channels=channels)
    assert [len(one) for one in found] == [4] * 7 + [2]
    assert sorted(itertools.chain(*found)) == sorted(f"i{n}" for n in range(30))
    if channels is not None:  # one channel alone: the order is that of its scores
        long = await side.retrieve(_QUESTION | {"limit": 30, "channels": channels}, "t")
        assert [*itertools.chain(*found)] == [result.id for result in long.results]


async def test_pages_of_a_filter_end_with_what_passes_it(side: Side) -> None:
    await fill(side, 30)
    for sent in ({"metadata.n": {"lt": 9}}, {"not": {"metadata.n": {"gte": 9}}}):
        found = await pages(side, filter=sent)
        assert [len(one) for one in found] == [4, 4, 1]
        assert {*itertools.chain(*found)} == {f"i{n}" for n in range(9)}


async def test_what_is_written_meanwhile_shifts_no_page(side: Side) -> None:
    await fill(side, 12)
    first = await page(side, None)
    shown = [str(result.id) for result in first.results]
    await side.retract({"context": "c", "ids": [shown[0]]}, "t")
    best = {"id": "new", "text": "What is known of the harbour? All that is known of the harbour."}
    await side.ingest({"context": "c", "items": [best]}, "t", None)
    await side.indexer.drain()
    rest: list[str] = []
    cursor = first.next
    while cursor is not None:
        answer = await page(side, cursor)
        rest += [str(result.id) for result in answer.results]
        cursor = answer.next
    assert rest[0] == "new", "the best of what was not shown"
    assert sorted([*shown, *rest]) == sorted([*(f"i{n}" for n in range(12)), "new"])


async def test_consolidated_items_are_shown_once_each(side: Side) -> None:
    await tell(side, [turn(n, f"The {_PLACES[n]} of the harbour, number {n * 37}.") for n in range(12)])
    await consolidate(side, await draft(side, await thread(side)))
    await side.indexer.drain()
    found = await pages(side)
    assert sorted(itertools.chain(*found)) == sorted(str(n) for n in range(12))


async def test_near_duplicates_of_what_was_shown_are_not_shown_later(side: Side) -> None:
    texts = [f"The ferry of the harbour leaves for {town} at nine." for town in ("Elm", "Oak", "Ash", "Fir", "Yew")]
    items = [{"id": f"{n}{copy}", "text": text + copy} for n, text in enumerate(texts) for copy in ("", " ")]
    await side.ingest({"context": "c", "items": items}, "t", None)
    await side.indexer.drain()
    answer = await page(side, None, limit=2)
    named = {uid for result in answer.results for uid in (result.id, *result.duplicates)}
    while answer.next is not None:
        answer = await page(side, answer.next, limit=2)
        new = {uid for result in answer.results for uid in (result.id, *result.duplicates)}
        assert not new & named
        named |= new


async def test_pages_end_at_the_limit_of_their_number(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("support.stores.pairs.LimitSettings", lambda: LimitSettings(paged_results=10))
    await fill(side, 30)
    assert [len(one) for one in await pages(side)] == [4, 4, 2]
    cursor = (await page(side, None, limit=9)).next
    monkeypatch.setattr("support.stores.pairs.LimitSettings", lambda: LimitSettings(paged_results=9))
    with pytest.raises(InvalidInputError, match="is behind 9 results, and the limit is 9"):
        await page(side, cursor)


async def test_a_cursor_is_of_its_question_and_its_tenant(side: Side) -> None:
    await fill(side, 12)
    cursor = (await page(side, None)).next
    assert len((await page(side, cursor, limit=2, explain=True, budget={"chars": 900})).results) == 2
    others: tuple[dict[str, Any], ...] = (
        {"query": "Else"}, {"filter": {}}, {"viewer": {"user": "ana"}}, {"speaker": "Ana"}, {"context": "c"},
    )  # fmt: skip
    for other in others:
        with pytest.raises(InvalidInputError, match="belongs to another request"):
            await page(side, cursor, **other)
    with pytest.raises(InvalidInputError, match="belongs to another request"):
        await side.retrieve(_QUESTION | {"cursor": cursor}, "another")
    for wrong in ("nonsense", f"{cursor}x", "WzFd"):
        with pytest.raises(InvalidInputError, match="is no cursor"):
            await page(side, wrong)


async def test_all_pages_answer_out_of_the_domain_of_the_first(side: Side) -> None:
    code = [{"id": f"k{n}", "text": f"def harbour_{n}(quay): return quay + {n}"} for n in range(8)]
    await side.ingest({"context": "c", "items": code, "domain": "coding"}, "t", None)
    await fill(side, 8, context="d", domain="general")
    asked = {"query": "def harbour_3(quay): return quay"}
    first = await page(side, None, **asked)
    assert first.intent.filtered
    second = await page(side, first.next, **asked)
    assert {result.domain for result in (*first.results, *second.results)} == {"coding"}
    assert len(second.results) == 4


async def test_pages_stay_in_all_domains_if_the_first_was_of_all(side: Side) -> None:
    await fill(side, 4, context="d", domain="general")
    first = await page(side, None, limit=2)
    assert not first.intent.filtered
    code = [{"id": f"k{n}", "text": f"def harbour_{n}(quay): return quay + {n}"} for n in range(8)]
    await side.ingest({"context": "c", "items": code, "domain": "coding"}, "t", None)
    await side.indexer.drain()
    assert (await page(side, None)).intent.filtered, "what is stored now points to one domain"
    found = [result.id for result in first.results]
    cursor = first.next
    while cursor is not None:
        answer = await page(side, cursor, limit=2)
        found += [result.id for result in answer.results]
        cursor = answer.next
    assert len(set(found)) == len(found) == 12


async def test_what_holds_now_is_not_added_to_a_page_again(side: Side) -> None:
    await tell(side, [turn(n, f"The {_PLACES[n]} of the harbour, number {n * 37}.") for n in range(12)])
    items = [{"id": "old", "text": "What is known of the harbour: it is closed.", "speaker": "Ana"}]
    await side.ingest({"context": "c", "items": items}, "t", None)
    await side.indexer.drain()
    await consolidate(side, await draft(side, await thread(side)))
    await side.indexer.drain()
    found = [*itertools.chain(*await pages(side))]
    assert len(found) == len(set(found))
