"""The Tag-Walker: what shares a tag with a hit and no word with the question (seed 000)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.stores.memory import Memory, open_memory

HIT = {"id": "hit", "text": "The amulet was stolen from the vault at night.", "tags": ["heist"]}
TOLD = {"id": "told", "text": "Mara owed the smugglers four hundred crowns.", "tags": ["heist"]}
SAME_WORDS = {"id": "same", "text": "Another amulet stands in the museum.", "tags": ["heist"]}
APART = {"id": "apart", "text": "Bread was cheap in spring.", "tags": ["market"]}
QUERY = "amulet stolen vault"


async def also_lines(memory: Memory, **fields: Any) -> list[str]:
    text = (await memory.retrieve(QUERY, **{"context": "ctx", "limit": 1} | fields)).text
    return [line.strip() for line in text.splitlines() if line.strip().startswith("also ")]


async def test_a_hits_tag_leads_to_an_item_without_the_query_words(memory: Memory) -> None:
    await memory.ingest(HIT, TOLD, SAME_WORDS, APART)
    assert await also_lines(memory) == ["also heist: Mara owed the smugglers four hundred crowns."]
    answer = await memory.retrieve(QUERY, context="ctx", limit=1)
    assert {edge.type for edge in answer.graph.edges} >= {"TAGGED"}
    assert "heist" in {node.name for node in answer.graph.nodes}
    assert await also_lines(memory, expand={"hops": 0}) == []
    assert await also_lines(memory, channels=["bm25"]) == []


async def test_a_tag_shared_by_many_items_is_not_followed(memory: Memory) -> None:
    many = [{"id": f"m{n}", "text": f"Some line, number {n}.", "tags": ["heist"]} for n in range(60)]
    await memory.ingest(HIT, TOLD, *many)
    assert await also_lines(memory) == []


async def test_a_hidden_item_with_a_shared_tag_leaves_no_trace(memory: Memory) -> None:
    secret = TOLD | {"sensitivity": "sensitive", "about": ["Mara"]}
    viewer = {"user": "Ben", "chat": "private"}
    await memory.ingest(HIT, secret)
    answer = await memory.retrieve(QUERY, context="ctx", limit=1, viewer=viewer)
    assert "Mara" not in answer.model_dump_json()
    assert "also heist" not in answer.text
    assert await also_lines(memory, viewer=viewer | {"user": "Mara"}) == [f"also heist: {TOLD['text']}"]


async def test_results_with_associates_are_ranked_by_score_without_repeats(memory: Memory) -> None:
    others = [{"id": f"o{n}", "text": f"The vault of house {n} was stolen into.", "tags": []} for n in range(3)]
    await memory.ingest(HIT, TOLD, *others)
    answer = await memory.retrieve(QUERY, context="ctx", channels=None, limit=10)
    kinds = {result.id: result.kind for result in answer.results}
    assert kinds["hit"] == "anchor"
    scores = [result.score for result in answer.results]
    assert scores == sorted(scores, reverse=True)
    assert [result.rank for result in answer.results] == list(range(1, len(scores) + 1))
    assert len({result.uid for result in answer.results}) == len(answer.results)


async def test_an_associate_is_written_in_full_or_cut_to_an_also_line(store: Path) -> None:
    told = TOLD | {"text": f"{TOLD['text']} {'She had borrowed it from them in the spring. ' * 12}Then she fled."}
    asked = {"context": "ctx", "explain": True}
    async with open_memory(store, vectors=False) as memory:  # words alone leave places free
        await memory.ingest(HIT, told)
        answer = await memory.retrieve(QUERY, **asked, template={"result": "- {id}: {text}"})
        short = await memory.retrieve(QUERY, **asked, budget={"chars": 600})
    assert [result.kind for result in answer.results] == ["anchor", "associative"]
    assert answer.text.endswith(f"- told: {told['text']}\n    shares heist with [1]")
    assert "also heist" not in answer.text
    assert answer.explain is not None
    assert answer.explain.cut == ()
    assert "also heist: Mara owed" in short.text
    assert short.explain is not None
    assert short.explain.cut == (answer.results[1].uid,)


async def test_the_callers_filter_holds_for_associates(memory: Memory) -> None:
    await memory.ingest(HIT, TOLD | {"tags": ["heist", "private notes"]})
    assert await also_lines(memory, tags={"none": ["private notes"]}) == []


async def test_a_late_result_is_not_added_again_over_its_tag(memory: Memory) -> None:
    others = [{"id": f"o{n}", "text": f"The amulet of vault {n} was stolen.", "tags": ["heist"]} for n in range(12)]
    await memory.ingest(HIT, TOLD, *others)
    answer = await memory.retrieve(QUERY, context="ctx", limit=50)
    assert "told" in [result.id for result in answer.results][10:]
    assert len({result.uid for result in answer.results}) == len(answer.results)
