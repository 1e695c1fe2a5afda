"""What an asker may not see takes nobody's place: his answer is that of a memory without it, however much of it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.stores.memory import Memory, open_memory
from vicw_shared.wire.retrieve import RetrieveResponse

VIEWER = {"user": "Ben", "chat": "private"}
SECRET: dict[str, Any] = {"sensitivity": "sensitive", "about": ["Zoe"]}
FILLER = [{"id": f"f{n}", "text": f"Nothing of any weight, line {n}: rain, bread, socks {n}."} for n in range(30)]
MANY = 60
ASIDE = "A telescope stood in the garden behind our house, under a grey cloth, all through that winter and spring."


def causes(effect: str, count: int, certainty: float, **fields: Any) -> list[dict[str, Any]]:
    """Return items each of which says that it brought ``effect`` about."""
    return [
        {
            "id": f"{certainty} {n}",
            "text": f"Something else altogether, number {n} of {certainty}.",
            "timestamp": "2026-01-01T00:00:00Z",
            "extraction": {
                "relations": [
                    {"source": f"{certainty} {n}", "type": "CAUSED", "target": effect, "certainty": certainty}
                ]
            },
            **fields,
        }
        for n in range(count)
    ]


async def answers_without_and_with(
    store: Path, query: str, *told: list[dict[str, Any]], hidden: int, **fields: Any
) -> list[RetrieveResponse]:
    """Return what the viewer is told in a memory without the list of that number, and in one that has all of them."""
    answers = []
    for name in ("without", "with"):
        async with open_memory(store / name) as memory:
            for number, items in enumerate(told):
                if name == "with" or number != hidden:
                    await memory.ingest(*items, extract="caller", **(fields if number == hidden else {}))
            answers.append(await memory.retrieve(query, viewer=VIEWER, limit=50, explain=True))
    return answers


async def test_hidden_causes_do_not_displace_a_visible_cause(store: Path) -> None:
    effect = {"id": "effect", "text": "The comet struck the lake.", "timestamp": "2026-01-02T00:00:00Z"}
    crowd, cause = causes("effect", MANY, 0.9, **SECRET), causes("effect", 1, 0.5)
    ranks = []
    for answer in await answers_without_and_with(store, "comet lake", [effect, *FILLER], crowd, cause, hidden=1):
        (found,) = (result for result in answer.results if result.id == "0.5 0")
        assert "graph" in {hit.channel for hit in found.channels}
        assert found.uid in {edge.source for edge in answer.graph.edges if edge.type == "CAUSED"}
        ranks.append(found.rank)
    assert ranks[0] == ranks[1]


async def test_hidden_items_do_not_make_a_shared_tag_too_common(store: Path) -> None:
    items: list[dict[str, Any]] = [
        {"id": "hit", "text": "The comet struck the lake.", "tags": ["astronomy"]},
        {"id": "associate", "text": ASIDE, "tags": ["astronomy"]},
        *FILLER,
        *({"id": f"g{n}", "text": f"Nothing of weight, page {n}: wool, {n} spoons."} for n in range(2 * MANY)),
    ]
    crowd = [{"id": f"h{n}", "text": f"Diary {n}.", "tags": ["astronomy"], **SECRET} for n in range(MANY)]
    for answer in await answers_without_and_with(store, "comet lake", crowd, items, hidden=0):
        assert "associate" in {result.id for result in answer.results if result.id}
        assert any(edge.type == "TAGGED" for edge in answer.graph.edges)


@pytest.mark.parametrize("fields", [SECRET, {"portable": False}])
async def test_a_domain_of_hidden_items_changes_neither_intent_nor_domains_searched(
    store: Path, fields: dict[str, Any]
) -> None:
    items = [{"id": "hit", "text": "The comet struck the lake."}, *FILLER]
    poem = {"id": "poem", "text": "A poem of the comet and the lake.", **fields}
    where = {"domain": "creative", "context": "elsewhere"}
    without, with_ = await answers_without_and_with(store, "comet lake", items, [poem], hidden=1, **where)
    assert with_.intent == without.intent
    assert without.explain is not None
    assert with_.explain is not None
    assert with_.explain.domains_searched == without.explain.domains_searched


async def test_flow_steps_are_withheld_from_viewers_when_turns_are_hidden(memory: Memory) -> None:
    hidden = {"sensitivity": "personal", "about": ["Ben"]}
    owed: list[dict[str, Any]] = [{"text": f"I owe {n}.", **hidden} for n in (1, 2)]
    await memory.ingest({"id": "a", "text": "Hot kiln."}, *owed, {"id": "c", "text": "Cold kiln."}, flow_id="f")
    steps = {result.id: result.flow_step for result in (await memory.retrieve("kiln")).results}
    assert (steps["a"], steps["c"]) == (1, 4)
    seen = (await memory.retrieve("kiln", viewer={"user": "Clara", "context": "ctx"})).results
    assert {result.id: result.flow_step for result in seen} == {"a": None, "c": None}
