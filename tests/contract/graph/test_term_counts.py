"""What every store must count: in how many passages of a context, and of a tenant, each term occurs."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import batched
from typing import Any

from support.stores.graph_records import AT, Graph, edge, node, put
from support.stores.term_counts import lose_all_counts, lose_counts
from vicw_core.index import sparse
from vicw_shared.model import Label, Node
from vicw_shared.ports import MAX_CONTEXTS, GraphTransaction, Passages, TermCounts, TermScope
from vicw_shared.uids import make_uid
from vicw_stores.term_counts import MERGED

WORDS = ["amulet", "river", "snow", "letter"]


def term(word: str) -> int:
    (index,) = sparse.question_terms(word)
    return index


async def store(graph: Graph, name: str, text: str, *, tenant: str = "t", context: str = "c", **fields: Any) -> None:
    """Store an item with one passage, and index it."""
    chunk = replace(node(name, Label.CHUNK, text=text), tenant=tenant, context=context, uid=make_uid(name, "passage"))
    item = node(name, content_hash="h", qdrant_id=chunk.uid, **fields)
    await save(graph, [replace(item, tenant=tenant, context=context), chunk])


async def save(graph: Graph, nodes: list[Node]) -> None:
    one = nodes[0]
    proof = replace(edge("EVIDENCED_BY", one.name, one.name), source=one.uid, target=nodes[-1].uid)

    async def work(transaction: GraphTransaction) -> None:
        await transaction.put_nodes(nodes)
        await transaction.put_edges([proof] if len(nodes) > 1 else [])

    await graph.write(one.tenant, one.context, work)
    await index(graph)


async def index(graph: Graph) -> None:
    while page := await graph.outbox.claim(100, seconds=60):
        await graph.outbox.acknowledge(page)


async def counts(graph: Graph, *contexts: str, tenant: str = "t", words: list[str] = WORDS) -> tuple[int, ...]:
    """Return the number of passages of the contexts, or of the tenant, and of those with each word."""
    found = (await graph.frequencies(tenant, contexts or None, [term(word) for word in words])).asked
    return found.passages, *(found.counts.get(term(word), 0) for word in words)


async def test_terms_are_counted_by_context_and_by_tenant(graph: Graph) -> None:
    await store(graph, "1", "An amulet, the amulet of the river.")
    await store(graph, "2", "The rivers froze.")
    await store(graph, "3", "Snow on the river.", context="winter")
    await store(graph, "4", "A letter.", tenant="u")
    assert await counts(graph, "c") == (2, 1, 2, 0, 0), "a passage counts once, its words are stemmed"
    assert await counts(graph, "winter") == (1, 0, 1, 1, 0)
    assert await counts(graph, "c", "winter", "c", "unknown") == (3, 1, 3, 1, 0)
    assert await counts(graph) == (3, 1, 3, 1, 0)
    assert await counts(graph, tenant="u") == (1, 0, 0, 0, 1), "tenants have counts of their own"
    assert await counts(graph, tenant="nobody") == (0, 0, 0, 0, 0)
    frequencies = await graph.frequencies("t", ["winter"], [term("river"), term("letter")])
    assert frequencies.tenant == TermCounts(3, {term("river"): 3})
    assert (await graph.frequencies("t", [], [])).asked == TermCounts(3, {}), "no context is no restriction here"


async def test_of_very_many_contexts_the_tenants_counts_are_taken(graph: Graph) -> None:
    await store(graph, "1", "An amulet.")
    await store(graph, "2", "A river.", context="d")
    many = ["c", *map(str, range(MAX_CONTEXTS))]
    assert await counts(graph, *many[:MAX_CONTEXTS]) == (1, 1, 0, 0, 0)
    assert await counts(graph, *many) == (2, 1, 1, 0, 0)


async def test_the_title_or_speaker_counts_as_in_the_points(graph: Graph) -> None:
    await store(graph, "1", "An amulet.", title="The river")
    assert await counts(graph, "c") == (1, 1, 1, 0, 0)


async def test_a_retired_passage_does_not_count_and_counts_again_when_restored(graph: Graph) -> None:
    await store(graph, "1", "An amulet.")
    await store(graph, "2", "An amulet by the river.")
    chunk = (await graph.nodes("t", [make_uid("2", "passage")]))[make_uid("2", "passage")]
    for _ in range(2):
        await save(graph, [replace(chunk, retired_at=AT)])
        assert await counts(graph, "c") == await counts(graph) == (1, 1, 0, 0, 0)
        await save(graph, [chunk])
        assert await counts(graph, "c") == await counts(graph) == (2, 2, 1, 0, 0)


async def test_an_entry_that_is_settled_twice_or_too_late_counts_once(graph: Graph) -> None:
    await store(graph, "1", "An amulet.")
    chunk = (await graph.nodes("t", [make_uid("1", "passage")]))[make_uid("1", "passage")]
    await graph.outbox.requeue([chunk.uid])
    stale = await graph.outbox.claim(1, seconds=0.01)
    await put(graph, [replace(chunk, text="A river.")])
    await graph.outbox.acknowledge(stale)
    await index(graph)
    await graph.outbox.acknowledge(stale)
    assert await counts(graph, "c") == await counts(graph) == (1, 0, 1, 0, 0)


async def drop(graph: Graph, *names: str) -> None:
    async def work(transaction: GraphTransaction) -> None:
        await transaction.drop_nodes([uid for name in names for uid in (make_uid(name, "passage"), make_uid(name))])

    await graph.write("t", "c", work)


async def test_counts_follow_any_sequence_of_changes(graph: Graph) -> None:
    draw = random.Random(7)
    live: dict[str, str] = {}
    for step in range(3 * MERGED**2):
        name = str(draw.randrange(12))
        if name in live and draw.random() < 0.3:
            await drop(graph, name)
            del live[name]
        else:
            live[name] = " ".join(draw.sample(WORDS, draw.randrange(1, 4)))
            await store(graph, name, live[name])
        if step % 5 == 0:
            expected = len(live), *(sum(word in text for text in live.values()) for word in WORDS)
            assert await counts(graph, "c") == await counts(graph) == expected
    assert await graph.audit.wrong_counts() == []
    await drop(graph, *live)
    assert await counts(graph) == (0, 0, 0, 0, 0)


async def test_lost_counts_are_found_and_made_again(graph: Graph) -> None:
    for number in range(6):
        await store(graph, str(number), f"{WORDS[number % 4]} {number}", context="ab"[number % 2])
    await store(graph, "other", "amulet", tenant="u")
    before = await counts(graph, "a"), await counts(graph, "b"), await counts(graph)
    await lose_counts(graph, TermScope("t", "b"))
    await lose_counts(graph, TermScope("t", ""))
    wrong = await graph.audit.wrong_counts()
    assert wrong == [TermScope("t", ""), TermScope("t", "b")]
    for scope in wrong:
        await graph.outbox.recount(scope)
    assert await graph.audit.wrong_counts() == []
    assert (await counts(graph, "a"), await counts(graph, "b"), await counts(graph)) == before


async def test_passages_of_an_earlier_program_are_counted_by_pages(graph: Graph) -> None:
    for number in range(7):
        await store(graph, str(number), "amulet" if number < 5 else "river")
    await lose_all_counts(graph)
    assert await counts(graph) == (0, 0, 0, 0, 0)
    passages = await graph.scan(Passages(), limit=99)
    assert len(await graph.audit.wrong_terms(passages)) == 7
    await store(graph, "7", "snow")  # this program counts it itself
    chunks = sorted(point.point_id for point in await graph.scan(Passages(), limit=99))
    assert await graph.words.lock("me", seconds=60)
    for page in (*batched(chunks, 3), chunks[-2:]):
        assert await graph.words.renew(page, holder="me")
    assert await counts(graph) == await counts(graph, "c") == (8, 5, 2, 1, 0)
    assert await graph.audit.wrong_terms(passages) == set()
    assert await graph.audit.wrong_counts() == []
