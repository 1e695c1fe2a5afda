"""What says the same but for a few words is one result, with the ids of the others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from support.stores.memory import Memory
from vicw_retrieval.pipeline import retrieve
from vicw_retrieval.refine.near_duplicates import Shingles, near_duplicates
from vicw_shared.settings import RetrievalSettings
from vicw_shared.wire.retrieve import RetrieveRequest, RetrieveResponse

TEXT = (
    "The nightly backup of the orders database writes its archive to the second volume, checks that it can be read, "
    "and tells the people on call by mail if one of these steps takes longer than an hour or ends with an error."
)
ALIKE = f"{TEXT} Always."


async def ask(memory: Memory, least: float = 0.9, **fields: Any) -> RetrieveResponse:
    ports = replace(
        memory.standalone.retrieval_ports(), settings=RetrievalSettings(duplicate_share=least, spread_ms=20_000)
    )
    asked = {"query": "nightly backup of the orders database", "limit": 10, **fields}
    return await retrieve(RetrieveRequest.model_validate(asked), memory.tenant, ports)


def found(answer: RetrieveResponse) -> list[tuple[str | None, tuple[str, ...]]]:
    return sorted((result.id, result.duplicates) for result in answer.results)


async def test_near_duplicates_are_one_result_with_their_ids(memory: Memory) -> None:
    await memory.ingest({"id": "a", "text": TEXT}, {"id": "b", "text": ALIKE}, {"text": f"Note: {TEXT}"})
    (result,) = (await ask(memory)).results
    assert len({result.id, *result.duplicates}) == 3
    assert {"a", "b"} <= {result.id, *result.duplicates}
    assert len((await ask(memory, least=0.0)).results) == 3


@pytest.mark.parametrize(
    "other",
    [
        {"text": TEXT.replace("an hour", "20 minutes")},
        {"text": TEXT.replace("that it can be read", "not that it can be read")},
        {"text": f"{TEXT} 👍"},
        {"text": TEXT.replace("if one", "if > one")},
        {"text": TEXT.replace("and tells", "and WHO tells")},
        {"text": ALIKE, "speaker": "Ana"},
        {"text": f"{TEXT} {' '.join(reversed(TEXT.split()))}"},
    ],
    ids=["a number", "a negation", "an emoji", "an operator", "an acronym", "another speaker", "more besides"],
)
async def test_texts_with_a_small_but_real_difference_stay_separate_results(
    memory: Memory, other: dict[str, str]
) -> None:
    await memory.ingest({"id": "a", "text": TEXT}, {"id": "b", **other})
    assert [ids for _, ids in found(await ask(memory))] == [(), ()]


async def test_short_texts_are_one_result_if_all_their_words_are_the_same(memory: Memory) -> None:
    said = ("The nightly backup, again.", "The nightly backup again", "The nightly backup, once again.")
    await memory.ingest(*({"id": f"t{number}", "text": text} for number, text in enumerate(said)))
    first, second = (await ask(memory)).results
    assert {frozenset((one.id, *one.duplicates)) for one in (first, second)} == {
        frozenset(("t0", "t1")),
        frozenset(("t2",)),
    }


async def test_short_code_is_not_compared_since_case_tells_names_apart(memory: Memory) -> None:
    code = {"subtype": "function", "text": "nightly_backup(orders)"}
    await memory.ingest({"id": "a", **code}, {"id": "b", **code, "text": "Nightly_Backup(orders)"}, domain="coding")
    assert found(await ask(memory, domain="coding")) == [("a", ()), ("b", ())]


async def test_other_contexts_are_not_compared(memory: Memory) -> None:
    await memory.ingest({"id": "c", "text": TEXT}, context="one")
    await memory.ingest({"id": "d", "text": ALIKE}, context="two")
    assert found(await ask(memory)) == [("c", ()), ("d", ())]


async def test_a_place_that_a_duplicate_leaves_goes_to_the_next(memory: Memory) -> None:
    next_best = {"id": "c", "text": "The nightly backup of the orders database failed."}
    await memory.ingest({"id": "a", "text": TEXT}, {"id": "b", "text": ALIKE}, next_best)
    answer = await ask(memory, limit=2)
    assert {result.id for result in answer.results} in ({"a", "c"}, {"b", "c"})


async def test_hidden_items_are_not_listed_as_duplicates(memory: Memory) -> None:
    secret = {"id": "b", "text": ALIKE, "sensitivity": "sensitive", "about": ["Mara"]}
    await memory.ingest({"id": "a", "text": TEXT}, secret)
    assert found(await ask(memory, viewer={"user": "Ben"})) == [("a", ())]


def test_resemblance_is_the_shingle_share_and_requires_equal_numbers() -> None:
    one, other = Shingles("a b c d e f"), Shingles("a b c d e g")
    assert one.resembles(other, 0.6)
    assert not one.resembles(other, 0.61), "3 shared of 5"
    assert not Shingles("a b c d e 1").resembles(Shingles("a b c d e 2"), 0.1)
    for one_end, other_end in [("👍", "👎"), ("-5", "5"), ("5 %", "5"), ("a?", "a."), ("3 €", "3 $"), ("IT", "it")]:
        assert not Shingles(f"a b c d e {one_end}").resembles(Shingles(f"a b c d e {other_end}"), 0.1)
        assert Shingles(f"a b c d e {one_end}").resembles(Shingles(f"A b c d e {one_end}."), 0.9)
    assert near_duplicates([("x", 1, []), ("y", 1, [])], least=0.1, chars=0) == {}
