"""The time that a question names: what happened then comes first, and an answer says if nothing did."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.answers.explanation import explained
from support.stores.memory import Memory, open_memory
from vicw_retrieval.pipeline import retrieve
from vicw_shared.settings import RetrievalSettings
from vicw_shared.wire.retrieve import RetrieveRequest, RetrieveResponse

ASKED_AT = "2025-10-30T18:00:00Z"
DIARY = {
    "09-28": "We hung the paper lanterns.",
    "10-02": "We rented a rowing boat.",
    "10-03": "We framed the old map.",
    "10-04": "We met Tilda on the pier.",
    "10-20": "We bottled the cider.",
    "10-21": "We closed the summer house.",
}


async def diary(memory: Memory, context: str = "diary") -> None:
    items = [
        {"id": day, "text": text, "speaker": "Jon", "timestamp": f"2025-{day}T12:00:00Z"} for day, text in DIARY.items()
    ]
    await memory.ingest(*items, context=context)


async def ask(memory: Memory, query: str, **fields: Any) -> RetrieveResponse:
    return await memory.retrieve(query, **{"query_time": ASKED_AT, **fields})


def ids(answer: RetrieveResponse) -> list[str | None]:
    return [result.id for result in answer.results]


@pytest.mark.parametrize("vectors", [True, False], ids=["vectors", "words"])
@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("What did we do on October 3?", {"10-03"}),
        ("What happened between October 2 and October 4?", {"10-02", "10-03", "10-04"}),
        ("What did we do the day before we met Tilda?", {"10-03"}),
        ("What is the first thing we did in October?", {"10-02"}),
        ("What is the last thing we did in October?", {"10-21"}),
        ("What did we do in September?", {"09-28"}),
    ],
)
async def test_what_happened_at_the_named_time_comes_first(
    store: Path, query: str, first: set[str], vectors: bool
) -> None:
    async with open_memory(store, vectors=vectors) as memory:
        await diary(memory)
        answer = await ask(memory, query)
        assert set(ids(answer)[: len(first)]) == first


async def test_what_was_told_of_another_day_is_not_of_the_day_of_telling(memory: Memory) -> None:
    told = {"id": "told", "text": "Two days ago we lost an oar.", "speaker": "Jon"}
    await memory.ingest(told | {"timestamp": "2025-10-05T09:00:00Z"}, context="diary")
    await diary(memory)
    on_that_day = await ask(memory, "What did we do on October 3?")
    assert set(ids(on_that_day)[:2]) == {"told", "10-03"}
    assert on_that_day.time is not None
    uids = {result.id: result.uid for result in on_that_day.results}
    assert set(on_that_day.time.items) == {uids["told"], uids["10-03"]}
    of_telling = await ask(memory, "What did we do on October 5?")
    assert of_telling.time is not None
    assert of_telling.time.nothing
    assert ids(await ask(memory, "What did I tell you on October 5?"))[0] == "told"


async def test_a_time_hides_nothing(memory: Memory) -> None:
    await diary(memory)
    answer = await ask(memory, "What did we do on October 3?")
    assert set(ids(answer)) == DIARY.keys()


async def test_nothing_of_a_day_is_said_with_what_is_nearest(memory: Memory) -> None:
    await diary(memory)
    answer = await ask(memory, "What did we do on October 10?")
    assert answer.time is not None
    assert (answer.time.nothing, answer.time.items) == (True, ())
    assert (answer.time.before, answer.time.after) != (None, None)
    assert answer.time.before is not None
    assert answer.time.after is not None
    assert (answer.time.before.id, answer.time.after.id) == ("10-04", "10-20")
    line = "Nothing is known of 2025-10-10. Nearest before it: 2025-10-04 12:00Z (id 10-04), "
    assert answer.text.startswith(line + "after it: 2025-10-20 12:00Z (id 10-20).\n[1] ")
    assert len((await ask(memory, "What did we do on October 10?", budget={"chars": 300})).text) <= 300


async def test_what_is_nearest_is_shown_first_where_nothing_but_a_time_is_asked(memory: Memory) -> None:
    await diary(memory)
    assert ids(await ask(memory, "What happened on October 10?", limit=2)) == ["10-04", "10-20"]
    assert ids(await ask(memory, "What happened on October 27?", limit=2))[0] == "10-21"
    assert ids(await ask(memory, "Who hung the paper lanterns on October 10?"))[0] == "09-28"


async def test_what_a_viewer_may_not_see_is_not_the_nearest(memory: Memory) -> None:
    await diary(memory)
    hidden = {"id": "hidden", "text": "Yesterday we hid a present.", "sensitivity": "sensitive", "about": ["Zoe"]}
    await memory.ingest(hidden | {"timestamp": "2025-10-09T12:00:00Z"}, context="diary")
    answer = await ask(memory, "What did we do on October 10?", viewer={"user": "Ben"})
    assert answer.time is not None
    assert answer.time.before is not None
    assert answer.time.before.id == "10-04"
    seen = await ask(memory, "What did we do on October 8?")
    assert ids(seen)[0] == "hidden"


async def test_the_nearest_is_in_the_context_that_is_asked(memory: Memory) -> None:
    await diary(memory)
    await memory.ingest({"id": "other", "text": "A parade.", "timestamp": "2025-10-09T12:00:00Z"}, context="town")
    answer = await ask(memory, "What did we do on October 10?", context="diary")
    assert answer.time is not None
    assert answer.time.before is not None
    assert answer.time.before.id == "10-04"


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        ("What did we do on October 3?", {"query_time": "1999-01-01T00:00:00Z"}),
        ("October 3", {}),
        ("2025-10-03", {}),
        ("What happened on 9999-12-31?", {}),
        ("What happened on 9999-12-31?", {"query_time": "9999-12-31T23:59:59Z"}),
        ("What happened tomorrow?", {"query_time": "9999-12-31T23:59:59+00:00"}),
        ("What happened yesterday?", {"query_time": "0001-01-01T00:00:00+00:00"}),
        ("What happened on 0000-01-01?", {}),
        ("What happened between October 20 and October 2?", {}),
        ("What happened the day before the eclipse?", {}),
        ("What is the last thing we did?", {"as_of": "2025-10-05T00:00:00Z"}),
        ("What did we do on October 3?", {"known_at": "2000-01-01T00:00:00Z"}),
    ],
)
async def test_odd_times_are_answered_in_full(memory: Memory, query: str, fields: dict[str, Any]) -> None:
    await diary(memory)
    answer = await ask(memory, query, **fields)
    assert answer.degraded == ()
    assert len(answer.results) == (0 if "known_at" in fields else 4 if "as_of" in fields else len(DIARY))


async def test_a_store_without_any_time_answers_by_words(memory: Memory) -> None:
    await memory.ingest({"id": "a", "text": "A kettle."}, {"id": "b", "text": "A ladder and a rope."})
    answer = await ask(memory, "Which ladder did we buy on October 3?")
    assert ids(answer)[0] == "b"
    assert answer.degraded == ()


async def test_without_a_boost_a_time_changes_nothing_and_is_not_told(memory: Memory) -> None:
    await diary(memory)
    ports = memory.standalone.retrieval_ports()
    request = RetrieveRequest.model_validate({"query": "What did we do on October 10?", "query_time": ASKED_AT})
    without = replace(ports, settings=RetrievalSettings(time_boost=0, graph_ms=20_000, spread_ms=20_000))
    answer = await retrieve(request, memory.tenant, without)
    assert answer.time is None
    assert "Nothing is known" not in answer.text


async def test_a_year_on_a_page_is_a_fact_of_it_and_no_time_that_lifts_it(memory: Memory) -> None:
    shot = {"id": "film", "name": "Low Tide", "subtype": "page", "text": "Low Tide is a film that was shot in 1986."}
    seen = {"id": "seen", "text": "We saw how a film was shot.", "speaker": "Jon", "timestamp": "1986-05-03T12:00:00Z"}
    await memory.ingest(shot, seen)
    asked = await explained(memory, "Who directed the film that was shot in 1986?", query_time=ASKED_AT)
    assert asked.gains("time").keys() == {"seen"}
    assert asked.response.time is not None
    assert not asked.response.time.nothing, "the page is of that year, too"
    alone = await explained(memory, "What happened in 1986?", query_time=ASKED_AT)
    assert alone.gains("time").keys() == {"film", "seen"}


async def test_a_part_of_a_day_that_is_told_while_it_goes_on_is_as_late_as_its_telling(memory: Memory) -> None:
    broke = {"id": "broke", "text": "The kettle broke.", "speaker": "Ines", "timestamp": "2025-10-06T08:10:00Z"}
    fixed = {"id": "fixed", "text": "Hugo mended it this morning.", "speaker": "Hugo"}
    await memory.ingest(fixed | {"timestamp": "2025-10-06T11:50:00Z"}, broke)
    assert ids(await ask(memory, "What was the first thing in October?"))[:2] == ["broke", "fixed"]
    assert ids(await ask(memory, "What happened first in October?"))[:2] == ["broke", "fixed"]
    assert ids(await ask(memory, "What was the last thing in October?"))[:2] == ["fixed", "broke"]


async def test_an_item_of_two_days_is_last_by_the_later_one(memory: Memory) -> None:
    both = {"id": "both", "text": "On October 2 we lost the key. We found it.", "speaker": "Jon"}
    await memory.ingest(both | {"timestamp": "2025-10-22T12:00:00Z"})
    await memory.ingest({"id": "between", "text": "We cut the grass.", "timestamp": "2025-10-12T12:00:00Z"})
    assert ids(await ask(memory, "What was the last thing in October?"))[0] == "both"
    assert ids(await ask(memory, "What was the first thing in October?"))[0] == "both"


@pytest.mark.parametrize(("offset", "told_of"), [("+09:00", "2025-10-07"), ("Z", "2025-10-06")])
async def test_yesterday_is_a_day_of_the_zone_in_which_it_was_told(memory: Memory, offset: str, told_of: str) -> None:
    at = "2025-10-08T07:30:00+09:00" if offset != "Z" else "2025-10-07T22:30:00Z"
    told = {"id": "told", "text": "Yesterday I oiled the bicycle.", "speaker": "Mio", "timestamp": at}
    assert (await memory.ingest(told)).items[0].status == "created"
    asked = await ask(memory, f"What did I do on {told_of}?", query_time=f"2025-10-20T12:00:00{offset}")
    assert asked.time is not None
    assert len(asked.time.items) == 1
    again = await memory.ingest(told | {"timestamp": "2025-10-07T22:30:00Z"})
    assert again.items[0].status == "unchanged", "it is the same instant"


@pytest.mark.parametrize(
    "query",
    ["Who mended the pump in October 2024?", "Who mended the pump on October 9, 2024?"],
    ids=["month", "day"],
)
async def test_a_wrong_year_does_not_lose_what_is_asked_about(memory: Memory, query: str) -> None:
    def basket(n: int) -> dict[str, Any]:
        at = f"2024-10-{9 if 'October 9' in query else 1 + n:02}T{n:02}:00:00Z"
        return {"id": f"n{n}", "text": f"Ida mended basket {n}, who knows why.", "speaker": "Jon", "timestamp": at}

    await memory.ingest(*(basket(n) for n in range(12)), context="diary")
    kettles = [{"id": f"k{n}", "text": f"A kettle of kind {n} is red.", "speaker": "Jon"} for n in range(60)]
    mended = {"id": "mended", "text": "The pump runs since Hugo changed its seal.", "speaker": "Jon"}
    await memory.ingest(*(one | {"timestamp": "2025-10-09T12:00:00Z"} for one in (mended, *kettles)), context="diary")
    answer = await ask(memory, query, limit=10)
    assert "mended" in ids(answer)
    assert all(one is not None and one.startswith("n") for one in ids(answer)[:7]), "what is of the time comes first"
    assert answer.time is not None
    assert answer.results[ids(answer).index("mended")].uid not in answer.time.items
    assert ids(await ask(memory, query, limit=50)).index("mended") < 10


async def test_a_wrong_year_of_which_there_is_nothing_is_said_and_changes_nothing(memory: Memory) -> None:
    await diary(memory)
    answer = await ask(memory, "What did we rent in October 2024?")
    assert ids(answer)[0] == "10-02"
    assert answer.text.startswith("Nothing is known of 2024-10-01 to 2024-10-31. Nearest after it: 2025-09-28")


@pytest.mark.parametrize(
    ("text", "at", "query"),
    [
        ("Ate eel at the harbour tonight.", "2025-10-08T23:15:00Z", "What did we do on October 8?"),
        ("Last night I dreamt of whales.", "2025-10-09T07:00:00Z", "What did I do on October 8?"),
        ("Today the pump failed.", "2025-10-08T03:12:00Z", "What happened on October 8 between 3 and 4 am?"),
        ("2025-10-08 03:12:44 ERROR pump: no water", "2025-10-08T03:12:44Z", "What failed on October 8 at 3 am?"),
        ("Three days ago I ran far. My knee.", "2025-10-11T21:30:00Z", "What did I do on October 8?"),
        ("Three days ago I ran far. My left knee.", "2025-10-08T21:30:00Z", "What hurt after 9pm on October 8?"),
    ],
)
async def test_a_part_of_a_day_is_of_the_day_and_of_the_hour_of_its_telling(
    memory: Memory, text: str, at: str, query: str
) -> None:
    await diary(memory)
    await memory.ingest({"id": "told", "text": text, "speaker": "Jon", "timestamp": at}, context="diary")
    answer = await ask(memory, query)
    assert ids(answer)[0] == "told"
    assert answer.time is not None
    assert answer.time.items == (answer.results[0].uid,)


async def test_what_was_announced_is_not_the_first_that_happened(memory: Memory) -> None:
    announced = {"id": "announced", "text": "The keys come on October 1.", "speaker": "Jon"}
    await memory.ingest(announced | {"timestamp": "2025-09-15T12:00:00Z"}, context="diary")
    await diary(memory)
    assert ids(await ask(memory, "What was the first thing we did in October?"))[0] == "10-02"
    assert ids(await ask(memory, "What was the last thing we did in October?"))[0] == "10-21"


@pytest.mark.parametrize(("query", "first"), [("most recent entry", "10-21"), ("the earliest note", "09-28")])
async def test_an_entry_is_no_word_to_search_for(memory: Memory, query: str, first: str) -> None:
    await diary(memory)
    assert ids(await ask(memory, query))[0] == first
