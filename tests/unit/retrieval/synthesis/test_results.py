"""What an answer holds: as many items as asked for, the best one first, nothing told in confidence."""

from __future__ import annotations

from typing import Any

import pytest

from support.fakes.hash_embedder import HashEmbedder
from support.stores.memory import Memory
from vicw_shared.errors import InvalidInputError
from vicw_shared.wire.retrieve import RetrieveResponse


@pytest.mark.parametrize("channels", [None, ["bm25"], ["dense"]])
async def test_a_long_document_does_not_crowd_out_the_others(memory: Memory, channels: list[str] | None) -> None:
    paragraphs = [f"Part {n}: " + "harbour " * 140 for n in range(150)]
    notes = [{"id": f"n{n}", "text": f"A note, number {n}, that in passing names a harbour, too"} for n in range(12)]
    await memory.ingest({"id": "long", "text": "\n\n".join(paragraphs)}, *notes)

    found = await memory.found("harbour " * 9, limit=10, channels=channels)

    assert len(found) == 10
    assert found.count("long") == 1


async def test_the_best_result_is_always_in_the_text_cut_if_need_be(memory: Memory) -> None:
    long = "The lighthouse keeper of the north keeps the lighthouse of the north. " * 15
    await memory.ingest({"id": "best", "text": long}, {"id": "other", "text": "keeper"})

    answer = await memory.retrieve("lighthouse keeper of the north", budget={"chars": 700})

    assert answer.results[0].id == "best"
    assert answer.text.startswith("[1] ")
    assert "The lighthouse keeper of the north" in answer.text
    assert len(answer.text) <= 700


async def test_anchors_take_70_percent_of_the_budget_and_neighbours_the_rest(memory: Memory) -> None:
    items = [{"id": f"i{n}", "text": f"Scene {n}: " + f"the storm rose {n} " * 25, "speaker": "Ana"} for n in range(12)]
    await memory.ingest(*items, flow_id="f")

    tight, wide = [await memory.retrieve("storm", limit=6, budget={"chars": chars}) for chars in (2000, 9000)]

    def anchors(answer: RetrieveResponse) -> int:
        return sum(len(line) for line in answer.text.splitlines() if not line.startswith("    "))

    one = anchors(wide) / 6
    assert 0.7 * 2000 - 1.1 * one < anchors(tight) <= 0.7 * 2000, "as many as have room in it"
    assert "    before:" in tight.text, "neighbours have room although results were left out"
    assert sum(line.startswith("[") for line in wide.text.splitlines()) == 6


async def test_entity_descriptions_from_sensitive_items_are_hidden_from_viewers(memory: Memory) -> None:
    told = {"entities": [{"name": "Ana", "subtype": "person", "description": "has a secret illness"}]}
    secret = {"id": "s", "text": "About Ana.", "sensitivity": "sensitive", "about": ["Ana"], "extraction": told}
    await memory.ingest(secret, {"id": "p", "text": "Good morning everybody", "speaker": "Ana", "flow_id": "f"})

    def shown(answer: RetrieveResponse) -> str:
        return answer.text + "".join(node.text or "" for node in answer.graph.nodes)

    viewed = await memory.retrieve("good morning", viewer={"user": "ben"})
    assert [result.id for result in viewed.results] == ["p"]
    assert "Ana" in {node.name for node in viewed.graph.nodes}
    assert "secret illness" not in shown(viewed)
    assert "secret illness" in shown(await memory.retrieve("good morning", limit=2)), "the application sees all"


async def test_nodes_of_a_personal_memory_are_visible_to_its_subject(memory: Memory) -> None:
    told = {
        "events": [{"id": "a", "name": "slipped"}, {"id": "b", "name": "broke an arm"}],
        "relations": [{"source": "a", "type": "CAUSED", "target": "b"}],
    }
    item = {"id": "s", "text": "Ana slipped and broke an arm.", "sensitivity": "personal", "about": ["Ana"]}
    await memory.ingest(item | {"extraction": told})

    assert len((await memory.retrieve("broke an arm", viewer={"user": "ana"})).graph.paths) == 1
    assert (await memory.retrieve("broke an arm", viewer={"user": "ben"})).results == ()


async def test_an_old_version_is_answered_with_its_causes_as_of_its_time(memory: Memory) -> None:
    def version(text: str, day: int, cause: str) -> dict[str, Any]:
        told = {
            "events": [{"id": "c", "name": cause}],
            "relations": [{"source": "c", "type": "CAUSED", "target": "$item"}],
        }
        return {"id": "v", "text": text, "timestamp": f"2025-01-{day:02}T00:00:00Z", "extraction": told}

    await memory.ingest(version("The bridge is closed", 1, "a flood"))
    await memory.ingest(version("The bridge is open", 9, "a repair"))

    now = await memory.retrieve("bridge")
    then = await memory.retrieve("bridge", as_of="2025-01-05T00:00:00Z")

    assert ("caused by: a repair" in now.text, "a flood" in now.text) == (True, False)
    assert ("caused by: a flood" in then.text, "a repair" in then.text) == (True, False)


async def test_relations_stated_by_hidden_items_are_hidden(memory: Memory) -> None:
    await memory.ingest({"id": "a", "text": "a vault was open"}, {"id": "b", "text": "the money is gone"}, flow_id="f")
    told = {"relations": [{"source": "a", "type": "CAUSED", "target": "b", "desc": "Carol did it"}]}
    secret = {"id": "s", "text": "between us", "sensitivity": "sensitive", "about": ["Ana"], "extraction": told}
    await memory.ingest(secret)

    async def causes(user: str) -> list[str | None]:
        answer = await memory.retrieve("the money is gone", viewer={"user": user})
        return [edge.desc for edge in answer.graph.edges if edge.type == "CAUSED"]

    assert await causes("eve") == []
    assert await causes("ana") == ["Carol did it"]


async def test_a_hit_deep_in_a_long_item_has_proof_and_causal_path(memory: Memory) -> None:
    parts = [f"Part {n}. " + f"word{n} " * 160 for n in range(40)]
    parts[37] = "The mill burned down. " + "and more words follow " * 50
    told = {
        "events": [{"id": "m", "name": "mill burned down"}, {"id": "c", "name": "a spark flew"}],
        "relations": [{"source": "c", "type": "CAUSED", "target": "m"}],
    }
    await memory.ingest({"id": "long", "text": "\n\n".join(parts), "extraction": told})

    answer = await memory.retrieve("the mill burned down", limit=1)

    assert any(via.type == "EVIDENCED_BY" for via in answer.results[0].via)
    assert len(answer.graph.paths) == 1


async def test_a_backdated_correction_replaces_later_versions(memory: Memory) -> None:
    for year, text in ((2020, "green"), (2022, "red"), (2021, "blue")):
        await memory.ingest({"id": "door", "text": f"The door is {text}", "timestamp": f"{year}-01-01T00:00:00Z"})

    async def seen(instant: str) -> list[str]:
        return [r.text for r in (await memory.retrieve("door", as_of=f"{instant}T00:00:00Z")).results]

    assert await seen("2020-06-01") == ["The door is green"]
    assert await seen("2021-06-01") == ["The door is blue"]
    assert await seen("2023-06-01") == ["The door is blue"], "red was corrected: it never was"


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"context": "x" * 600}, "context"),
        ({"domain": "x" * 600}, "domain"),
        ({"tags": {"any": ["a"] * 65}}, r"tags\.any"),
        ({"tags": {"none": ["x" * 600]}}, r"tags\.none\[0\]"),
        ({"viewer": {"user": "x" * 600}}, r"viewer\.user"),
        ({"viewer": {"participants": ["a"] * 65}}, r"viewer\.participants"),
    ],
)
async def test_names_and_lists_in_a_question_have_size_limits(
    memory: Memory, fields: dict[str, Any], names: str
) -> None:
    with pytest.raises(InvalidInputError, match=rf"^{names}: .*VICW_MAX_"):
        await memory.retrieve("x", **fields)


async def test_results_stand_when_a_second_search_fails(memory: Memory) -> None:
    long = "\n\n".join(f"harbour {n} " + "filler words here " * 60 for n in range(120))
    await memory.ingest({"id": "long", "text": long}, {"id": "note", "text": "harbour"})
    embedder: HashEmbedder = memory.embedder
    store = memory.standalone.vectors
    search = store.search

    async def only_once(query: Any) -> Any:
        if query.without:
            embedder.down = True
            return await embedder.embed(["x"], "query")  # type: ignore[arg-type]
        return await search(query)

    store.search = only_once  # type: ignore[method-assign]
    answer = await memory.retrieve("harbour")

    assert answer.results[0].id in {"long", "note"}
    assert answer.degraded
