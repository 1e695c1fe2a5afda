"""Another name that a text states, on both pairs of stores: it proposes a merge, and leads from one to the other."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from support.answers.explanation import Explained
from support.stores.pairs import Side, asked_for
from vicw_ingest.identity.entities import ComparisonScope, candidates
from vicw_shared.wire.retrieve import RetrieveResponse

STATED = {"id": "stated", "text": "Margaret Lunn, whom everybody calls Peggy, moved in next door."}
ROPES = {"id": "ropes", "text": "We gave Peggy new ropes for the swing.", "speaker": "Cleo"}
FILLER = tuple({"id": f"f{n}", "text": f"The gate of garden {n} has rust on it."} for n in range(25))


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


async def tell(side: Side, *items: dict[str, Any]) -> None:
    told = [{"speaker": "Ada", "timestamp": f"2026-01-{n + 1:02}T10:00:00Z"} | item for n, item in enumerate(items)]
    await side.ingest({"context": "c", "items": told}, "t", None)
    await side.indexer.drain()


async def asked(side: Side, query: str, **fields: Any) -> RetrieveResponse:
    return await side.retrieve({"query": query, "context": "c", "limit": 10, "explain": True} | fields, "t")


async def proposed(side: Side) -> dict[frozenset[str], str]:
    page = await candidates(side.graph, "t", ComparisonScope(("c",), None, 0.9, 1000), 50)
    return {frozenset((one.entity.name, one.other.name)): one.reason for one in page.candidates}


def raised(answer: RetrieveResponse) -> set[str | None]:
    """Return the results that the people stage raised."""
    return set(Explained(answer).gains("people"))


async def test_a_stated_alias_proposes_a_merge_and_merges_nothing(side: Side) -> None:
    await tell(side, STATED, ROPES)
    assert (await proposed(side))[frozenset(("Margaret Lunn", "Peggy"))] == "a text says that both are one"
    assert not [edge for edge in (await side.edges()).values() if edge.type == "MERGED_INTO"]
    await tell(side, STATED | {"text": "Margaret Lunn moved in next door."})
    assert frozenset(("Margaret Lunn", "Peggy")) not in await proposed(side), "the text does not say so any more"


async def test_a_question_with_one_name_finds_what_was_told_under_the_other(side: Side) -> None:
    await tell(side, STATED, ROPES, *FILLER)
    answer = await asked(side, "What does Margaret Lunn need for the swing?")
    assert "ropes" in [result.id for result in answer.results]
    assert raised(answer) >= {"ropes"}
    assert raised(await asked(side, "What does Marina Ash need for the swing?")) == set()


async def test_a_question_with_the_alias_finds_what_was_told_under_the_name(side: Side) -> None:
    await tell(side, STATED, {"id": "nails", "text": "Margaret Lunn bought nails for a swing."}, *FILLER)
    assert "nails" in raised(await asked(side, "What did Peggy buy for the swing?"))


async def test_a_viewer_who_may_not_see_the_text_does_not_learn_the_alias(side: Side) -> None:
    secret = {"sensitivity": "personal", "about": ["Bea"]}
    await tell(side, STATED | secret, ROPES, *FILLER)
    question = "What does Margaret Lunn need for the swing?"
    assert "ropes" in raised(await asked(side, question, viewer={"user": "Bea", "chat": "private"}))
    assert raised(await asked(side, question, viewer={"user": "Tom", "chat": "private"})) == set()
