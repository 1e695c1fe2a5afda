from __future__ import annotations

import pytest

from support.stores.memory import Memory
from vicw_shared.errors import InvalidInputError, UnavailableError
from vicw_shared.ports import Lane


async def test_results_carry_channels_proof_neighbours_and_context(memory: Memory) -> None:
    await memory.ingest(
        {"id": "1", "text": "The cat slept.", "speaker": "Ana"},
        {"id": "2", "text": "The dog barked at the moon.", "speaker": "Ben", "tags": ["Pets"]},
        {"id": "3", "text": "Everybody woke up.", "speaker": "Ana"},
        flow_id="night",
        context="House",
    )
    answer = await memory.retrieve("dog barked moon", limit=1)
    (result,) = answer.results
    assert (result.id, result.rank, result.context, result.speaker, result.tags) == ("2", 1, "House", "Ben", ("Pets",))
    assert result.text == "The dog barked at the moon."
    ranks = {hit.channel: hit.rank for hit in result.channels}
    assert (ranks["dense"], ranks["bm25"]) == (1, 1)
    assert sorted((v.type, v.direction) for v in result.via) == [
        ("EVIDENCED_BY", "out"),
        ("INITIATED", "in"),
        ("NEXT", "in"),
        ("NEXT", "out"),
    ]
    assert {node.name for node in answer.graph.nodes} == {"Ana", "Ben"}
    proof = next(edge for edge in answer.graph.edges if edge.type == "EVIDENCED_BY")
    assert (proof.source, proof.created_by) == (result.uid, "ingest")
    for line in ("before: Ana: The cat slept.", "after: Ana: Everybody woke up."):
        assert line in answer.text
    assert "by: Ben" not in answer.text, "its head has the speaker"
    bare = await memory.retrieve("Who barked at the moon?", limit=1, template={"result": "- {text}"})
    assert "by: Ben" in bare.text, "nothing else says who speaks"
    assert {"channels", "fuse", "expand", "synthesize", "total"} <= answer.took_ms.keys()
    assert answer.degraded == ()


async def test_zero_expansion_hops_give_no_edges(memory: Memory) -> None:
    await memory.ingest({"id": "1", "text": "one"}, {"id": "2", "text": "two"}, flow_id="f")
    answer = await memory.retrieve("one", limit=1, expand={"hops": 0})
    assert answer.graph.edges == ()
    assert answer.results[0].text == "one"


async def test_a_long_item_is_one_result_with_passages(memory: Memory) -> None:
    paragraphs = [f"Paragraph {n} about the harbour. " + "Filler words follow here. " * 30 for n in range(6)]
    await memory.ingest({"id": "long", "text": "\n\n".join(paragraphs)}, {"id": "short", "text": "harbour"})
    answer = await memory.retrieve("paragraph 3 harbour", limit=5)
    assert [r.id for r in answer.results].count("long") == 1
    found = next(r for r in answer.results if r.id == "long")
    assert len(found.passages) >= 4
    assert found.score >= max(p.score for p in found.passages)


async def test_filters_are_inside_the_search(memory: Memory) -> None:
    crowd = ({"id": f"crowd{n}", "text": "lighthouse keeper story"} for n in range(150))
    await memory.ingest(*crowd, context="big")
    await memory.ingest(
        {"id": "a", "text": "lighthouse far away", "tags": ["Sea", "Night"]},
        {"id": "b", "text": "lighthouse nearby", "tags": ["sea"]},
        {"id": "c", "text": "lighthouse painting", "tags": ["art"], "expires_at": "2020-01-01T00:00:00Z"},
        context="small",
    )
    query = "lighthouse keeper story"
    assert sorted(map(str, await memory.found(query, context="small"))) == ["a", "b"]
    assert sorted(map(str, await memory.found(query, tags={"any": ["SEA"]}))) == ["a", "b"]
    assert await memory.found(query, tags={"all": ["sea", "night"]}) == ["a"]
    assert await memory.found(query, tags={"any": ["sea"], "none": ["night"]}) == ["b"]
    assert await memory.found(query, context="nowhere") == []
    assert await memory.found(query, tags={"any": ["art"]}) == [], "expired"
    assert await memory.found(query, tags={"any": ["art"]}, query_time="2019-01-01T00:00:00Z") == ["c"]


async def test_a_domain_that_the_caller_gives_is_strict(memory: Memory) -> None:
    await memory.ingest({"id": "story", "text": "the wizard cast a spell"}, context="s", domain="prose")
    await memory.ingest({"id": "code", "text": "the wizard class has a spell method"}, context="c", domain="coding")
    await memory.ingest({"id": "chat", "text": "we talked about the wizard spell"}, context="g", domain="general")
    answer = await memory.retrieve("wizard spell", domain="Fiction")
    assert [r.id for r in answer.results] == ["story"]
    assert (answer.intent.domain, answer.intent.domain_source, answer.intent.filtered) == ("creative", "given", True)
    assert await memory.found("wizard spell", domain="code") == ["code"]


async def test_privacy_is_decided_inside_the_search(memory: Memory) -> None:
    await memory.ingest(
        {"id": "public", "text": "allergy list of the office"},
        {"id": "personal", "text": "allergy of Ana: nuts", "sensitivity": "personal", "about": ["Ana"]},
        {"id": "sensitive", "text": "allergy diagnosis of Ana", "sensitivity": "sensitive", "about": ["Ana"]},
        context="office",
    )
    await memory.ingest({"id": "kept", "text": "allergy note kept here", "portable": False}, context="home")

    async def seen(**viewer: object) -> list[str]:
        return sorted(map(str, await memory.found("allergy", viewer=viewer)))

    assert sorted(map(str, await memory.found("allergy"))) == ["kept", "personal", "public", "sensitive"]
    assert await seen(user="ben") == ["public"]
    assert await seen(user="ANA") == ["personal", "public", "sensitive"]
    assert await seen(user="ana", chat="group") == ["personal", "public"]
    assert await seen(user="ben", context="home") == ["kept", "public"]


async def test_hidden_neighbours_do_not_show_through(memory: Memory) -> None:
    await memory.ingest(
        {"id": "1", "text": "secret diagnosis", "sensitivity": "sensitive", "about": ["Ana"], "speaker": "Doctor"},
        {"id": "2", "text": "we met for lunch", "speaker": "Ben"},
        flow_id="f",
    )
    answer = await memory.retrieve("lunch", viewer={"user": "ben"})
    assert "secret" not in answer.model_dump_json()
    assert [v.type for v in answer.results[0].via if v.type == "NEXT"] == []


async def test_a_tenant_never_sees_items_of_another_tenant(memory: Memory) -> None:
    await memory.ingest({"id": "mine", "text": "the treasure is under the oak"})
    memory.tenant = "rival"
    assert await memory.found("treasure oak") == []
    await memory.ingest({"id": "theirs", "text": "the treasure is elsewhere"})
    assert await memory.found("treasure oak") == ["theirs"]
    answer = await memory.retrieve("treasure oak", context="ctx")
    assert "under the oak" not in answer.model_dump_json()
    memory.tenant = "default"
    assert await memory.found("treasure oak") == ["mine"]


async def test_channels_can_be_chosen_and_fail_alone(memory: Memory) -> None:
    await memory.ingest({"id": "a", "text": "zebra crossing"}, {"id": "b", "text": "quiet street"})
    assert await memory.found("zebra", channels=["bm25"]) == ["a"]
    assert (await memory.found("zebra", channels=["dense"]))[0] == "a"
    memory.embedder.down = True
    answer = await memory.retrieve("zebra")
    assert ([r.id for r in answer.results], answer.degraded) == (["a"], ("dense",))
    with pytest.raises(UnavailableError):
        await memory.retrieve("zebra", channels=["dense"])


@pytest.mark.parametrize("query", ["the of and", 'AND OR NOT ( " *', "'; DROP TABLE node; --", "🤷", "}{ MATCH (n)"])
async def test_strange_queries_get_an_answer(memory: Memory, query: str) -> None:
    await memory.ingest({"id": "a", "text": "something to find"})
    assert [r.id for r in (await memory.retrieve(query)).results] == ["a"], "dense finds something for any text"


@pytest.mark.parametrize("chars", [1, 40, 200, 1000, 100000])
async def test_the_text_never_exceeds_its_budget(memory: Memory, chars: int) -> None:
    await memory.ingest(*({"id": str(n), "text": f"harbour story {n} " + "x " * 100} for n in range(12)), flow_id="f")
    answer = await memory.retrieve("harbour story", budget={"chars": chars})
    assert 0 < len(answer.text) <= chars
    if chars == 100000:
        assert all(r.text.strip() in answer.text for r in answer.results)


async def test_sizes_over_the_limits_name_the_setting(memory: Memory) -> None:
    with pytest.raises(InvalidInputError, match="VICW_MAX_QUERY_CHARS"):
        await memory.retrieve("x" * 50_001)
    with pytest.raises(InvalidInputError, match="VICW_MAX_RESULTS"):
        await memory.retrieve("x", limit=10_000)
    with pytest.raises(InvalidInputError, match="VICW_MAX_BUDGET_CHARS"):
        await memory.retrieve("x", budget={"chars": 10_000_000})


async def test_explain_shows_every_channel(memory: Memory) -> None:
    await memory.ingest({"id": "a", "text": "zebra crossing"}, domain="coding")
    answer = await memory.retrieve("zebra", domain="coding", explain=True)
    assert answer.explain is not None
    assert answer.explain.wrapped_query == "[Domain: coding] zebra"
    assert set(answer.explain.channels) == {"dense", "bm25"}
    assert answer.explain.domains_searched == ("coding",)
    assert (await memory.retrieve("zebra")).explain is None


async def test_the_query_lane_is_used_for_queries(memory: Memory) -> None:
    await memory.ingest({"id": "a", "text": "zebra"}, domain="coding")
    await memory.retrieve("why?")
    assert memory.embedder.seen[0] == (Lane.BULK, "[Domain: coding] [Type: document] zebra")
    assert memory.embedder.questions() == ["[Domain: coding] why?"], "a memory of one domain is asked in it"
