"""A question why is answered back to the roots, each step with its proof; what the asker may not see cuts a chain."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest

from support.stores.memory import Memory
from vicw_core.identity.merge import MergeDecision
from vicw_ingest.identity.changes import merge
from vicw_retrieval.pipeline import retrieve
from vicw_shared.model import EdgeRegistry
from vicw_shared.ports import Direction, Neighbour
from vicw_shared.uids import named_uid
from vicw_shared.wire.retrieve import CausalChain, RetrieveRequest, RetrieveResponse

OUTAGE = (
    "The disk filled up because log rotation was off. The database crashed because the disk filled up. "
    "The server threw 500 errors because the database crashed."
)
WHY = "Why did the tower fall?"


async def ask(memory: Memory, query: str, settings: dict[str, Any] | None = None, **fields: Any) -> RetrieveResponse:
    ports = memory.standalone.retrieval_ports()
    chosen = {"title_match": False, "entity_hops": 0, **(settings or {})}
    ports = replace(ports, settings=ports.settings.model_copy(update=chosen))
    return await retrieve(RetrieveRequest.model_validate({"query": query, **fields}), memory.tenant, ports)


async def ingest_causes(memory: Memory, *relations: tuple[str, str, float | None], **fields: Any) -> None:
    """Store an item that tells of events, each a cause, an effect, and how sure it is."""
    names = dict.fromkeys(name for cause, effect, _ in relations for name in (cause, effect))
    told = {
        "events": [{"id": name, "name": name} for name in names],
        "relations": [
            {"source": cause, "type": "CAUSED", "target": effect} | ({} if sure is None else {"certainty": sure})
            for cause, effect, sure in relations
        ],
    }
    await memory.ingest({"id": "i", "text": ". ".join(names), "extraction": told} | fields)


def names(answer: RetrieveResponse) -> list[list[str]]:
    """Return what each chain leads from and to, in its order."""
    called = {node.uid: node.name for node in answer.graph.nodes}

    def ends(chain: CausalChain) -> list[str]:
        back = chain.direction == "back"
        first = chain.steps[0].effect if back else chain.steps[0].cause
        return [called[uid] for uid in (first, *(step.cause if back else step.effect for step in chain.steps))]

    return [ends(chain) for chain in answer.graph.chains]


async def test_a_why_question_gets_the_chain_to_the_root_with_proof(memory: Memory) -> None:
    await memory.ingest({"id": "log", "text": OUTAGE, "speaker": "Ana"}, extract="rules", domain="coding")
    await memory.ingest(
        {"id": "tale", "text": "The knight cast a spell because the server spilled wine."}, domain="prose"
    )

    answer = await ask(memory, "Why is the server throwing a 500 error?")

    (chain,) = answer.graph.chains
    assert (chain.direction, chain.complete) == ("back", True)
    assert chain.certainty == pytest.approx(0.95 * 0.95 * 0.95)
    assert [step.quote for step in chain.steps] == [
        "The server threw 500 errors because the database crashed.",
        "The database crashed because the disk filled up.",
        "The disk filled up because log rotation was off.",
    ]
    nodes, edges = ({one.uid: one for one in answer.graph.nodes}, {one.id: one for one in answer.graph.edges})
    for step in chain.steps:
        assert (edges[step.edge].source, edges[step.edge].target) == (step.cause, step.effect)
        assert nodes[step.proof or ""].text == OUTAGE
        assert nodes[step.source_item or ""].id == "log"
        assert any(e.type == "EVIDENCED_BY" and e.target == step.proof for e in answer.graph.edges)
    assert answer.graph.paths[0] == tuple(step.edge for step in chain.steps)
    assert [len(path) for path in answer.graph.paths[1:]] == [1], "the tale's, by itself"
    line = "    why: The server threw 500 errors ← The database crashed ← The disk filled up ← log rotation was off"
    proof = '        "The disk filled up because log rotation was off." (certainty 0.95 · id log · Ana · coding'
    assert f"{line} (certainty 0.86)\n" in answer.text
    assert proof in answer.text


async def test_a_chain_of_consequences_spans_the_items_of_a_flow(memory: Memory) -> None:
    scenes = (
        "The king hid the powder.",
        "The tower collapsed because of the explosion.",
        "The queen fled because the tower collapsed.",
    )
    items = [{"id": f"s{n}", "text": text} for n, text in enumerate(scenes)]
    await memory.ingest(*items, extract="rules", flow_id="tale", domain="story")

    answer = await ask(memory, "What happened in the story after the explosion?")

    assert names(answer) == [["the explosion", "The tower collapsed", "The queen fled"]]
    assert [chain.direction for chain in answer.graph.chains] == ["forward"]
    assert "    what it led to: the explosion → The tower collapsed → The queen fled (certainty 0.9)" in answer.text


async def test_chains_do_not_join_equal_events_of_different_flows(memory: Memory) -> None:
    for flow, text in (
        ("a", "The tower collapsed because of the flood."),
        ("b", "The queen fled because the tower collapsed."),
    ):
        await memory.ingest({"id": flow, "text": text}, extract="rules", flow_id=flow)
    assert names(await ask(memory, "Why did the queen flee?")) == [["The queen fled", "the tower collapsed"]]


async def test_a_demonstrative_cause_is_resolved_to_the_sentence_before(memory: Memory) -> None:
    turns = (
        "The migration dropped an index because the script was old.",
        "That led to slow reads on replicas.",
        "Users left because of slow reads on replicas.",
    )
    await memory.ingest(*({"id": str(n), "text": text} for n, text in enumerate(turns)), extract="rules", flow_id="f")

    back = await ask(memory, "Why did the users leave?")
    on = await ask(memory, "What did the old script lead to?")

    chain = f"Users left ← slow reads on replicas ← {turns[0]}"
    assert f"    why: {chain} (certainty 0.85)" in back.text
    assert "    what it led to: the script was old → The migration dropped an index (certainty 0.95)" in on.text
    assert f"    what it led to: {turns[0]} → slow reads on replicas → Users left" in on.text


async def test_causes_between_items_are_chains_too(memory: Memory) -> None:
    texts = {"a": "nobody watched the gate", "b": "thieves came in", "c": "the amulet was stolen"}
    told = {
        "relations": [
            {"source": "a", "type": "ENABLED", "target": "b"},
            {"source": "b", "type": "CAUSED", "target": "c"},
        ]
    }
    await memory.ingest(*({"id": key, "text": text} for key, text in texts.items()), flow_id="f")
    await memory.ingest({"id": "d", "text": "how it came about", "extraction": told}, flow_id="f")

    (chain,) = (await ask(memory, "why was the amulet stolen")).graph.chains

    assert [step.type for step in chain.steps] == ["CAUSED", "ENABLED"]
    assert chain.certainty == pytest.approx(1.0 * 0.8), "where none is told, the edge's weight"
    assert {step.quote for step in chain.steps} == {"how it came about"}


async def test_chains_are_cut_at_cycles_and_none_is_part_of_another(memory: Memory) -> None:
    events = [
        {"id": name, "name": name} for name in ("the tower fell", "the wall broke", "the river rose", "the dam leaked")
    ]
    relations = [
        {"source": "the wall broke", "type": "CAUSED", "target": "the tower fell"},
        {"source": "the river rose", "type": "CAUSED", "target": "the wall broke"},
        {"source": "the dam leaked", "type": "CAUSED", "target": "the wall broke", "certainty": 0.5},
        {"source": "the tower fell", "type": "ENABLED", "target": "the river rose"},
    ]
    text = "the tower fell, the wall broke, the river rose, the dam leaked"
    await memory.ingest({"id": "i", "text": text, "extraction": {"events": events, "relations": relations}})

    answer = await ask(memory, WHY)

    assert names(answer) == [
        ["the tower fell", "the wall broke", "the river rose"],
        ["the tower fell", "the wall broke", "the dam leaked"],
    ]
    assert [chain.certainty for chain in answer.graph.chains] == [1.0, 0.5]
    assert len(answer.graph.paths) == 2, "the edges of chains are no paths by themselves"


@pytest.mark.parametrize(("hops", "complete"), [(1, False), (3, False), (4, True), (6, True)])
async def test_a_chain_is_cut_at_chain_hops_and_marked_incomplete(memory: Memory, hops: int, complete: bool) -> None:
    told = ["the tower fell", "the wall broke", "the river rose", "it rained", "clouds came"]
    await ingest_causes(memory, *((cause, effect, 0.5) for effect, cause in pairwise(told)))

    answer = await ask(memory, WHY, {"chain_hops": hops})

    (chain,) = answer.graph.chains
    assert names(answer) == [told[: min(hops, 4) + 1]]
    assert chain.certainty == pytest.approx(0.5 ** min(hops, 4))
    assert chain.complete is complete
    assert ("← …" in answer.text) is not complete


async def test_only_the_most_certain_chains_up_to_the_limit_are_returned(memory: Memory) -> None:
    causes = [(f"cause number {n}", "the tower fell", n / 100) for n in range(60)]
    await ingest_causes(memory, *causes)

    answer = await ask(memory, WHY, {"chains": 3, "fanout": 100})

    assert [chain.certainty for chain in answer.graph.chains] == [0.59, 0.58, 0.57]
    assert (await ask(memory, WHY, {"chains": 0})).graph.chains == ()


async def test_without_chains_an_answer_shows_single_causes(memory: Memory) -> None:
    await ingest_causes(memory, ("the wall broke", "the tower fell", None), ("the river rose", "the wall broke", None))
    for answer in (await ask(memory, "the tower fell"), await ask(memory, WHY, {"chains": 0})):
        assert answer.graph.chains == ()
        assert [len(path) for path in answer.graph.paths] == [1, 1]
        assert answer.text.count("the wall broke led to: the tower fell") == 1
        assert "the tower fell caused by" not in answer.text, "an edge is told once"
        assert "causal_chains" not in answer.took_ms
    assert (await ask(memory, WHY, expand={"hops": 0})).graph.chains == ()


async def test_a_hidden_cause_cuts_the_chain_and_leaves_no_trace(memory: Memory) -> None:
    causes = {
        "relations": [
            {"source": "a", "type": "CAUSED", "target": "b"},
            {"source": "b", "type": "CAUSED", "target": "c"},
        ]
    }
    secret = {"sensitivity": "sensitive", "about": ["Ana"]}
    texts: list[dict[str, Any]] = [
        {"id": "a", "text": "a spy came to the gate"},
        {"id": "b", "text": "Ana was ill"} | secret,
        {"id": "c", "text": "the tower fell"},
    ]
    await memory.ingest(*texts, flow_id="f")
    await memory.ingest({"id": "d", "text": "as they say", "extraction": causes})
    shown = (await ask(memory, WHY)).graph.chains
    assert [len(chain.steps) for chain in shown] == [2]

    hidden = [uid for step in shown[0].steps for uid in (step.edge, step.cause)]
    seen = await ask(memory, WHY, viewer={"user": "eve"})
    assert seen.graph.chains == ()
    assert seen.graph.paths == ()
    for trace in (*hidden[:-1], "ill", "why:"):
        assert trace not in seen.model_dump_json(exclude={"took_ms"})
    assert [len(chain.steps) for chain in (await ask(memory, WHY, viewer={"user": "ana"})).graph.chains] == [2]


async def test_a_cause_from_a_sensitive_item_is_hidden_from_other_viewers(memory: Memory) -> None:
    await memory.ingest(
        {"id": "a", "text": "a spy came to the gate"}, {"id": "c", "text": "the tower fell"}, flow_id="f"
    )
    told = {"relations": [{"source": "a", "type": "CAUSED", "target": "c"}]}
    await memory.ingest(
        {"id": "d", "text": "between us", "sensitivity": "sensitive", "about": ["Ana"], "extraction": told}
    )

    eve = await ask(memory, WHY, viewer={"user": "eve"})
    (chain,) = (await ask(memory, WHY, viewer={"user": "ana"})).graph.chains

    assert (eve.graph.chains, eve.graph.paths) == ((), ())
    assert chain.steps[0].quote == "between us"


async def test_as_of_selects_the_causal_chain_of_that_version(memory: Memory) -> None:
    def version(cause: str, day: int) -> dict[str, Any]:
        events = [{"id": name, "name": name} for name in (cause, "the wall broke")]
        relations = [
            {"source": "the wall broke", "type": "CAUSED", "target": "$item"},
            {"source": cause, "type": "CAUSED", "target": "the wall broke"},
        ]
        told = {"events": events, "relations": relations}
        return {
            "id": "v",
            "text": f"the tower fell: {cause}",
            "timestamp": f"2025-01-{day:02}T00:00:00Z",
            "extraction": told,
        }

    await memory.ingest(version("a flood", 1))
    await memory.ingest(version("an earthquake", 9))

    now, then = await ask(memory, WHY), await ask(memory, WHY, as_of="2025-01-05T00:00:00Z")

    assert [chain[-1] for chain in names(now)] == ["an earthquake"]
    assert [chain[-1] for chain in names(then)] == ["a flood"]


async def test_a_merged_entity_in_a_chain_continues_from_its_canonical_entity(memory: Memory) -> None:
    told = {
        "entities": [{"id": name, "name": name, "subtype": "policy"} for name in ("Old policy", "Policy")],
        "events": [{"id": "t", "name": "the tower fell"}, {"id": "v", "name": "the council voted"}],
        "relations": [
            {"source": "Old policy", "type": "ENABLED", "target": "t"},
            {"source": "v", "type": "CAUSED", "target": "Policy"},
        ],
    }
    await memory.ingest({"id": "i", "text": "the tower fell by the old policy", "extraction": told})
    assert names(await ask(memory, WHY)) == [["the tower fell", "Old policy"]]

    decision = MergeDecision(memory.tenant, datetime(2026, 1, 1, tzinfo=UTC), EdgeRegistry.with_core_types())
    uids = [named_uid(memory.tenant, "ctx", "policy", name) for name in ("Old policy", "Policy")]
    await merge(memory.standalone.graph, decision, *uids)

    assert names(await ask(memory, WHY)) == [["the tower fell", "Policy", "the council voted"]]


@pytest.mark.parametrize("chars", [1, 2, 50, 150, 230, 300, 400, 600, 800, 1_000_000])
async def test_the_budget_is_kept_with_chains(memory: Memory, chars: int) -> None:
    await memory.ingest({"id": "log", "text": OUTAGE}, extract="rules")

    answer = await ask(memory, "Why is the server throwing a 500 error?", budget={"chars": chars})

    assert len(answer.text) <= chars
    assert len(answer.graph.chains) == 1
    assert ("why: " in answer.text, '        "The' in answer.text) == (chars >= 400, chars >= 800)


async def test_a_chain_search_timeout_keeps_partial_chains_and_is_degraded(memory: Memory) -> None:
    told = ["the tower fell", *(f"item {n}" for n in range(5))]
    await memory.ingest(*({"id": text, "text": text} for text in told), flow_id="f")
    relations = [{"source": cause, "type": "CAUSED", "target": effect} for effect, cause in pairwise(told)]
    await memory.ingest({"id": "i", "text": "as it was", "extraction": {"relations": relations}})
    graph = memory.standalone.graph
    expand, asked = graph.expand, 0

    async def slow(
        tenant: str, uids: Sequence[str], spreads: Any, limit: int, *, among: int | None = None
    ) -> list[Neighbour]:
        nonlocal asked
        asked += ("ENABLED", Direction.IN) in spreads
        if asked == 3:
            await asyncio.sleep(1)  # longer than the chains may take, and less than the graph may
        return await expand(tenant, uids, spreads, limit, among=among)

    graph.expand = slow  # type: ignore[method-assign]
    answer = await ask(memory, WHY, {"spread_ms": 300, "graph_weight": 0.0}, limit=1)

    assert answer.degraded == ("causal_chains",)
    (chain,) = answer.graph.chains
    assert (len(chain.steps), chain.complete) == (2, False), "what was found by then"
