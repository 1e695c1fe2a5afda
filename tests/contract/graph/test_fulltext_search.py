"""What every GraphStore must find by its words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from support.stores.graph_records import AT, Graph, edge, node, put
from vicw_shared.model import Label, Sensitivity
from vicw_shared.ports import Audience, GraphTransaction, Scope
from vicw_shared.uids import make_uid

NOW = AT + timedelta(days=10)
_PASSAGES: dict[str, str] = {}


async def tell(
    graph: Graph,
    name: str,
    *passages: str,
    tenant: str = "t",
    tags: Sequence[str] = (),
    bucket: str | None = None,
    about: str = "",
    **fields: Any,
) -> None:
    """Put an item with its passages and what its edges say of it."""
    chunks = [node(f"{name}/{n}", Label.CHUNK, text=text, **fields) for n, text in enumerate(passages)]
    edges = [edge("EVIDENCED_BY", name, chunk.name) for chunk in chunks]
    _PASSAGES.update((chunk.uid, chunk.name) for chunk in chunks)
    chunks = [replace(chunk, name="passage") for chunk in chunks]
    item = node(name, content_hash="h", qdrant_id=chunks[0].uid, tags=tuple(tags), bucket=bucket, **fields)
    marks = {**dict.fromkeys(tags, "tag"), **({bucket: "bucket"} if bucket is not None else {})}
    concepts = [node(mark, Label.CONCEPT, subtype=subtype) for mark, subtype in marks.items()]
    people = [node(about, subtype="person")] if about else []
    nodes = [replace(one, tenant=tenant) for one in (item, *chunks, *concepts, *people)]
    edges += [edge("TAGGED", name, mark) for mark in marks]
    edges += [edge("ABOUT", name, person.name) for person in people]
    await put(graph, nodes, edges, tenant)


async def found(graph: Graph, text: str, limit: int = 10, **scope: Any) -> list[str]:
    fields: dict[str, Any] = {"tenant": "t", "now": NOW} | scope
    hits = await graph.find(Scope(**fields), text, limit)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(hit.score > 0 for hit in hits)
    uids = [hit.uid for hit in hits]
    assert len(uids) == len(set(uids)), "at most one hit a Chunk"
    return [_PASSAGES[uid] for uid in uids]


async def test_fulltext_finds_passages_by_words_item_names_and_tags(graph: Graph) -> None:
    await tell(graph, "Harbour Master", "the keeper slept", "lighthouses burned", tags=("Sea",))
    await tell(graph, "other", "the harbour at night")
    assert await found(graph, "lighthouse") == ["Harbour Master/1"], "stems are compared"
    assert await found(graph, "harbour") == ["Harbour Master/0", "other/0"], "a name counts double"
    assert await found(graph, "sea") == ["Harbour Master/0"]
    assert await found(graph, "HARBOUR", limit=1) == ["Harbour Master/0"]
    assert await found(graph, "volcano") == []


async def test_an_items_first_passage_is_found_by_its_bucket(graph: Graph) -> None:
    await tell(graph, "Harbour Master", "the keeper slept", "lighthouses burned", bucket="inbox/tax_receipts.Old")
    await tell(graph, "other", "the receipts lay in the office all night, and the keeper counted them in the morning")
    for word in ("inbox", "receipt", "tax", "tax_receipts", "old", "inbox/tax_receipts.Old"):
        assert (await found(graph, word))[0] == "Harbour Master/0", word
    assert await found(graph, "receipts") == ["Harbour Master/0", "other/0"], "a bucket counts double"
    assert await found(graph, "inbox") == ["Harbour Master/0"]
    assert await found(graph, "inbox", tags_any=("inbox/tax_receipts.old",)) == [], "it is no tag"


async def test_a_bucket_scores_like_a_tag_and_is_not_counted_twice(graph: Graph) -> None:
    await tell(graph, "first", "the keeper slept", tags=("archive",))
    await tell(graph, "second", "the keeper slept", bucket="archive")
    await tell(graph, "third", "the keeper slept", tags=("archive",), bucket="archive")
    hits = await graph.find(Scope(tenant="t", now=NOW), "archive", 10)
    assert [hit.score for hit in hits] == [pytest.approx(hits[0].score)] * 3


async def test_fulltext_finds_an_item_by_its_current_bucket_only(graph: Graph) -> None:
    await tell(graph, "first", "the keeper slept", bucket="inbox")
    (item,) = (await graph.nodes("t", [make_uid("first")])).values()

    async def move(transaction: GraphTransaction) -> None:
        await transaction.put_nodes([replace(item, bucket="archive"), node("archive", Label.CONCEPT, subtype="bucket")])
        await transaction.put_edges([edge("TAGGED", "first", "archive")])
        await transaction.drop_edges([edge("TAGGED", "first", "inbox")])

    await graph.write("t", "c", move)
    assert (await found(graph, "inbox"), await found(graph, "archive")) == ([], ["first/0"])
    await put(graph, [replace(item, bucket="letters")])
    assert await found(graph, "letters") == ["first/0"], "whatever its edges say"


async def test_an_item_name_matches_only_the_first_passage(graph: Graph) -> None:
    await tell(graph, "Harbour Master", "the keeper slept", "lighthouses burned")
    chunks = [node(f"Harbour Master/{n}", Label.CHUNK) for n in range(2)]
    texts = await graph.texts("t", [chunk.uid for chunk in chunks])
    await put(
        graph,
        [replace(chunk, name=f"Harbour Master §{n}", text=texts[chunk.uid]) for n, chunk in enumerate(chunks, start=1)],
    )
    assert await found(graph, "harbour") == ["Harbour Master/0"]
    assert await found(graph, "lighthouses") == ["Harbour Master/1"]


async def test_a_dotted_word_is_found_by_each_of_its_parts(graph: Graph) -> None:
    await tell(graph, "code", "it calls numpy.linalg.norm(row)", tags=("auth.tokens",))
    await tell(graph, "math.utils", "of 2.5 harbours")
    await tell(graph, "other", "the sea")
    for word in ("numpy", "linalg", "norm", "numpy.linalg", "tokens"):
        assert await found(graph, word) == ["code/0"]
    for word in ("utils", "math.utils", "2.5"):
        assert await found(graph, word) == ["math.utils/0"]


async def test_a_name_with_underscores_is_found_whole_and_by_each_of_its_parts(graph: Graph) -> None:
    await tell(graph, "code", "it calls harbour.count_ships(row)", tags=("sea_side",))
    await tell(graph, "tide.high_water", "of two harbours")
    await tell(graph, "other", "the keeper")
    for word in ("count", "counted", "ships", "count_ships", "side", "sea_side"):
        assert await found(graph, word) == ["code/0"], word
    for word in ("water", "high_water"):
        assert await found(graph, word) == ["tide.high_water/0"]


@pytest.mark.parametrize(
    "text",
    ["", " ", "AND OR NOT", '"', "( harbour", 'harbour" OR *', "name:harbour", "har*", "{a: 1}", "~^!\\/", "-harbour"],
)
async def test_operators_in_a_query_are_not_interpreted_as_syntax(graph: Graph, text: str) -> None:
    await tell(graph, "first", "the harbour at night")
    await tell(graph, "second", "the sea")
    assert await found(graph, text) == (["first/0"] if "harbour" in text else [])


async def test_fulltext_finds_only_passages_of_the_tenant(graph: Graph) -> None:
    for number in range(20):
        await tell(graph, f"large {number}", "harbour harbour harbour")
    await tell(graph, "small", "one harbour among many other words", tenant="u")
    assert await found(graph, "harbour", 3, tenant="u") == ["small/0"]
    assert len(await found(graph, "harbour", 3)) == 3


async def test_other_contexts_and_tenants_do_not_weigh_the_words_of_one(graph: Graph) -> None:
    await tell(graph, "first", "an otter at the shore")
    await tell(graph, "second", "a lamp at the shore")
    for number in range(20):
        await tell(graph, f"there {number}", "a lamp", context="there")
        await tell(graph, f"theirs {number}", "a lamp of theirs", tenant="u")
    hits = await graph.find(Scope(tenant="t", now=NOW, contexts=("c",)), "otter lamp", 10)
    assert [hit.score for hit in hits] == [pytest.approx(hits[0].score)] * 2


async def test_fulltext_applies_the_scope_before_the_limit(graph: Graph) -> None:
    for number in range(5):
        await tell(graph, f"noise {number}", "harbour harbour", domain="code")
    await tell(graph, "story", "a harbour", domain="prose", tags=("Sea", "night"))
    assert await found(graph, "harbour", 1, domains=("prose",)) == ["story/0"]
    assert await found(graph, "harbour", 1, tags_any=("sea", "x")) == ["story/0"]
    assert await found(graph, "harbour", 1, tags_all=("sea", "night")) == ["story/0"]
    assert await found(graph, "harbour", 1, tags_all=("sea", "x")) == []
    assert "story/0" not in await found(graph, "harbour", tags_none=("sea",))
    assert len(await found(graph, "harbour", contexts=("c",))) == 6
    assert await found(graph, "harbour", contexts=("d",)) == []
    assert await found(graph, "harbour", contexts=()) == await found(graph, "harbour", domains=()) == []


async def test_fulltext_respects_validity_as_of_and_known_at(graph: Graph) -> None:
    def day(number: int) -> Any:
        return AT + timedelta(days=number)

    await tell(graph, "live", "harbour", timestamp=day(1))
    await tell(graph, "ended", "harbour", timestamp=day(1), valid_to=day(5), retired_at=day(6))
    await tell(graph, "wrong", "harbour", timestamp=day(1), retired_at=day(6))
    await tell(graph, "late", "harbour", timestamp=day(7), created_at=day(8))
    await tell(graph, "expired", "harbour", timestamp=day(1), expires_at=day(9))
    assert set(await found(graph, "harbour")) == {"live/0", "late/0"}
    assert set(await found(graph, "harbour", as_of=day(4))) == {"live/0", "ended/0"}
    assert set(await found(graph, "harbour", known_at=day(4))) == {"live/0", "ended/0", "wrong/0"}
    assert set(await found(graph, "harbour", asked_at=day(8))) == {"live/0", "late/0", "expired/0"}


async def test_fulltext_shows_an_audience_only_visible_passages(graph: Graph) -> None:
    await tell(graph, "public", "harbour")
    await tell(graph, "personal", "harbour", sensitivity=Sensitivity.PERSONAL, about="Ána")
    await tell(graph, "sensitive", "harbour", sensitivity=Sensitivity.SENSITIVE, about="Ána")
    await tell(graph, "home", "harbour", portable=False)
    everything = {"public/0", "personal/0", "sensitive/0", "home/0"}

    async def seen(audience: Audience | None) -> set[str]:
        return set(await found(graph, "harbour", audience=audience))

    assert await seen(None) == everything
    assert await seen(Audience()) == {"public/0"}
    assert await seen(Audience(context="c")) == {"public/0", "home/0"}
    assert await seen(Audience(identities=("ána",), context="c")) == everything
    assert await seen(Audience(identities=(make_uid("Ána"),))) == {"public/0", "personal/0", "sensitive/0"}
    assert await seen(Audience(identities=("ána",), private=False)) == {"public/0", "personal/0"}
    assert await seen(Audience(identities=("bob",))) == {"public/0"}


async def test_a_scope_matches_earlier_names_of_tags_and_people(graph: Graph) -> None:
    await tell(graph, "a", "harbour", tags=("sea",), about="Ana", sensitivity=Sensitivity.PERSONAL)
    ana, sea = node("Ana", subtype="person"), node("sea", Label.CONCEPT, subtype="tag")
    await put(
        graph, [replace(ana, name="Ana Souza", aliases=("Ana", "A.")), replace(sea, name="Ocean", aliases=("Sea",))]
    )
    for subject in ("ana", "a.", "ana souza", make_uid("Ana")):
        assert await found(graph, "harbour", audience=Audience(identities=(subject,))) == ["a/0"], subject
    assert await found(graph, "harbour", audience=Audience(identities=("ben",))) == []
    for tag in ("sea", "ocean"):
        assert await found(graph, "harbour", tags_any=(tag,)) == ["a/0"], tag
        assert await found(graph, "harbour", tags_none=(tag,)) == [], tag
    (point,) = await graph.outbox.claim(9, seconds=60)
    assert set(point.about) == {"Ana Souza", "Ana", "A.", make_uid("Ana")}
    assert set(point.tags) == {"Ocean", "Sea"}
