"""What every VectorStore must do. A further engine is one more parameter of ``vectors``."""

from __future__ import annotations

import math
import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from support.stores.qdrant import collections_for_tests, server_if_any
from vicw_shared.clock import to_ms
from vicw_shared.errors import UnavailableError
from vicw_shared.model import Label
from vicw_shared.ports import Audience, ModelIdentity, Point, Scope, ScoreQuery, SparseVector, VectorQuery, VectorStore
from vicw_stores.edge import EdgeVectorStore
from vicw_stores.qdrant import QdrantVectorStore

NOW = datetime(2025, 6, 1, tzinfo=UTC)
SIZE = 4


def axis(n: int, lean: float = 0.0) -> NDArray[np.float32]:
    vector = np.full(SIZE, lean, dtype=np.float32)
    vector[n] = 1.0
    return vector / np.linalg.norm(vector)


def name(n: int) -> str:
    return str(uuid.UUID(int=n))


def point(n: int, *, terms: dict[int, float] | None = None, lean: float = 0.0, **payload: Any) -> Point:
    sparse = SparseVector(tuple(terms), tuple(terms.values())) if terms else None
    base = {
        "tenant": "t",
        "label": "Chunk",
        "context": "c",
        "domain": "general",
        "sensitivity": "public",
        "portable": 1,
    }
    return Point(name(n), axis(n % SIZE, lean), sparse, base | payload)


def scope(**fields: Any) -> Scope:
    return Scope(**{"tenant": "t", "now": NOW, **fields})


@pytest.fixture(params=["edge", pytest.param("qdrant", marks=pytest.mark.servers)])
async def vectors(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[VectorStore]:
    if request.param == "edge":
        edge = EdgeVectorStore(store / "vectors", SIZE)
        yield edge
        await edge.close()
        return
    async with collections_for_tests(server_if_any(request)) as (client, collections):
        collection = await collections.open(ModelIdentity("model", SIZE, "digest", 1))
        qdrant = QdrantVectorStore(client, collection.name, recent_seconds=0)
        yield qdrant
        await qdrant.close()


async def dense(vectors: VectorStore, vector: NDArray[np.float32], limit: int = 10, **fields: Any) -> list[int]:
    hits = await vectors.search(VectorQuery(scope=scope(**fields), limit=limit, dense=vector))
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
    return [uuid.UUID(h.id).int for h in hits]


async def test_dense_scores_are_cosines_best_first(vectors: VectorStore) -> None:
    await vectors.upsert([point(0), point(1, lean=0.5), point(2)])
    hits = await vectors.search(VectorQuery(scope=scope(), limit=2, dense=axis(1, 0.5)))
    assert uuid.UUID(hits[0].id).int == 1
    assert hits[0].score == pytest.approx(1.0, abs=2e-3)
    assert hits[1].score == pytest.approx(0.5 / math.sqrt(1.75), abs=2e-3)


async def test_known_candidates_are_scored_as_a_search_would(vectors: VectorStore) -> None:
    await vectors.upsert([point(n, terms={7: 1.0 + n} if n != 2 else {8: 1.0}, lean=n / 10) for n in range(4)])
    sparse = SparseVector((7,), (1.0,))
    by_dense = {h.id: h.score for h in await vectors.search(VectorQuery(scope=scope(), limit=9, dense=axis(1)))}
    by_term = {h.id: h.score for h in await vectors.search(VectorQuery(scope=scope(), limit=9, sparse=sparse))}

    dense_scores, term_scores, no_ids, no_terms = await vectors.score(
        [
            ScoreQuery(ids=[name(1), name(3), name(99)], dense=axis(1)),
            ScoreQuery(ids=[name(0), name(2)], sparse=sparse),
            ScoreQuery(ids=[], dense=axis(1)),
            ScoreQuery(ids=[name(0)], sparse=SparseVector((), ())),
        ]
    )

    assert dense_scores == pytest.approx({name(n): by_dense[name(n)] for n in (1, 3)})
    assert term_scores == pytest.approx({name(0): by_term[name(0)]}), "a point without the term is left out"
    assert (no_ids, no_terms) == ({}, {})


async def test_a_point_without_a_dense_vector_is_found_by_sparse_search_only(vectors: VectorStore) -> None:
    whole = point(0, terms={7: 1.0})
    await vectors.upsert([whole, point(1, terms={7: 1.0})])
    await vectors.upsert([Point(whole.id, None, whole.sparse, {**whole.payload, "light": 1})])
    assert await dense(vectors, axis(0)) == [1]
    words = VectorQuery(scope=scope(), limit=9, sparse=SparseVector((7,), (1.0,)))
    assert {hit.id for hit in await vectors.search(words)} == {name(0), name(1)}
    assert await vectors.score([ScoreQuery(ids=[name(0), name(1)], dense=axis(1))]) == [{name(1): pytest.approx(1.0)}]
    assert await vectors.present([name(0)]) == {name(0)}
    assert (await vectors.payloads([name(0)]))[name(0)]["light"] == 1
    assert await vectors.ids(after=None, limit=9) == [name(0), name(1)]


async def test_dense_vectors_are_read_back_as_stored(vectors: VectorStore) -> None:
    assert await vectors.dense([]) == {}
    statement = point(2, lean=0.25, label="Event")
    await vectors.upsert(
        [point(1, terms={7: 1.0}), statement, Point(name(3), None, SparseVector((7,), (1.0,)), point(3).payload)]
    )
    found = await vectors.dense([name(n) for n in (1, 2, 3, 4)])
    assert found.keys() == {name(1), name(2)}
    assert found[name(2)] == pytest.approx(axis(2, 0.25), abs=5e-3), "as exactly as the engine keeps them"
    assert found[name(1)].dtype == np.float32


async def test_the_terms_of_sparse_vectors_are_read_back(vectors: VectorStore) -> None:
    assert await vectors.terms([]) == {}
    await vectors.upsert([point(1, terms={7: 1.0, 2**31: 0.5}), point(2, terms={8: 1.0}), point(3, label="Event")])
    assert await vectors.terms([name(n) for n in (1, 2, 3, 4)]) == {name(1): {7, 2**31}, name(2): {8}}


async def test_sparse_scores_are_sums_of_the_weights_products(vectors: VectorStore) -> None:
    """Whatever else the index holds, or held: the same in every engine, to a float of 32 bits."""
    await vectors.upsert([point(0, terms={7: 2.0, 9: 1.0}), point(1, terms={7: 1.0}), point(2, terms={8: 1.5})])
    query = SparseVector((7, 9), (0.3, 2.1))
    for count in (0, 50, -50):
        more = [point(100 + n, terms={7: 1.0, 9: 2.0}, tenant="other") for n in range(abs(count))]
        await (vectors.upsert(more) if count > 0 else vectors.delete([one.id for one in more]))
        hits = await vectors.search(VectorQuery(scope=scope(), limit=5, sparse=query))
        scores = {uuid.UUID(h.id).int: h.score for h in hits}
        assert scores == pytest.approx({0: 2.0 * 0.3 + 2.1, 1: 0.3}, rel=1e-6)
        (exact,) = await vectors.score([ScoreQuery(ids=[name(0), name(1), name(2)], sparse=query)])
        assert exact == {name(point): score for point, score in scores.items()}
    assert await vectors.search(VectorQuery(scope=scope(), limit=5, sparse=SparseVector((), ()))) == []


async def test_upsert_replaces_and_delete_removes(vectors: VectorStore) -> None:
    await vectors.upsert([point(0, terms={1: 1.0}), point(1)])
    await vectors.upsert([Point(name(0), axis(2), None, {"tenant": "t", "label": "Chunk", "text": "new"})])
    assert (await dense(vectors, axis(2), limit=1)) == [0]
    assert (await vectors.payloads([name(0), name(9)])) == {name(0): {"tenant": "t", "label": "Chunk", "text": "new"}}
    await vectors.delete([name(0), name(9)])
    assert await vectors.ids(after=None, limit=10) == [name(1)]


async def test_set_payload_replaces_it_and_ignores_unknown_points(vectors: VectorStore) -> None:
    await vectors.upsert([point(0, tags=["a"])])
    await vectors.set_payload({name(0): {"tenant": "t", "label": "Chunk", "context": "d"}, name(5): {"tenant": "t"}})
    assert await dense(vectors, axis(0), contexts=("d",)) == [0]
    assert await dense(vectors, axis(0), tags_any=("a",)) == []
    assert await vectors.ids(after=None, limit=10) == [name(0)]


async def test_ids_are_paged_without_gaps_or_repeats(vectors: VectorStore) -> None:
    await vectors.upsert([point(n) for n in range(25)])
    seen: list[str] = []
    while page := await vectors.ids(after=seen[-1] if seen else None, limit=7):
        seen += page
    assert sorted(seen) == sorted(name(n) for n in range(25))


async def test_a_tiny_tenant_gets_its_full_count_beside_a_huge_one(vectors: VectorStore) -> None:
    crowd = [point(n, terms={1: 2.0}) for n in range(500)]
    await vectors.upsert(crowd)
    assert len(await dense(vectors, axis(0), limit=400)) == 400
    await vectors.upsert([point(n, terms={1: 1.0}, tenant="tiny", lean=0.9) for n in range(1000, 1012)])
    assert len(await dense(vectors, axis(0), limit=10, tenant="tiny")) == 10
    assert await dense(vectors, axis(0), tenant="nobody") == []
    hits = await vectors.search(VectorQuery(scope=scope(tenant="tiny"), limit=20, sparse=SparseVector((1,), (1.0,))))
    assert len(hits) == 12


async def test_search_filters_by_context_domain_and_tags(vectors: VectorStore) -> None:
    await vectors.upsert(
        [
            point(0, context="a", domain="coding", tags=["x", "y"]),
            point(4, context="a", domain="creative", tags=["x"]),
            point(8, context="b", domain="general"),
        ]
    )
    query = axis(0)

    async def found(**fields: Any) -> set[int]:
        return set(await dense(vectors, query, **fields))

    assert await found() == {0, 4, 8}
    assert await found(contexts=("a",)) == {0, 4}
    assert await found(contexts=()) == set()
    assert await found(domains=("coding", "general")) == {0, 8}
    assert await found(tags_any=("x", "z")) == {0, 4}
    assert await found(tags_all=("x", "y")) == {0}
    assert await found(tags_none=("y",)) == {4, 8}


async def test_search_filters_by_expiry_as_of_and_known_at(vectors: VectorStore) -> None:
    def at(days: int) -> int:
        return to_ms(NOW + timedelta(days=days))

    await vectors.upsert(
        [
            point(0, created_at=at(-9), timestamp=at(-9)),
            point(4, created_at=at(-9), timestamp=at(-9), retired_at=at(-5), valid_to=at(-7)),
            point(8, created_at=at(-9), timestamp=at(-9), retired_at=at(-5)),
            point(12, created_at=at(-9), timestamp=at(-9), expires_at=at(-1)),
            point(16, created_at=at(-3), timestamp=at(-3)),
        ]
    )

    async def found(**fields: Any) -> set[int]:
        return set(await dense(vectors, axis(0), **fields))

    assert await found() == {0, 16}
    assert await found(asked_at=NOW - timedelta(days=2)) == {0, 12, 16}
    assert await found(asked_at=NOW - timedelta(days=8)) == {0, 12, 16}, (
        "what is retired stays so, whenever it is asked"
    )
    assert await found(as_of=NOW - timedelta(days=8)) == {0, 4}, "true then; what was wrong never was"
    assert await found(as_of=NOW - timedelta(days=6)) == {0}
    assert await found(known_at=NOW - timedelta(days=6)) == {0, 4, 8}, "believed then, right or wrong"


async def test_search_filters_by_audience_and_sensitivity(vectors: VectorStore) -> None:
    await vectors.upsert(
        [
            point(0),
            point(4, sensitivity="personal", about=["ana"]),
            point(8, sensitivity="sensitive", about=["ana", "ben"]),
            point(12, portable=0, context="home"),
        ]
    )

    async def found(**fields: Any) -> set[int]:
        return set(await dense(vectors, axis(0), audience=Audience(**fields)))

    assert await found() == {0}
    assert await found(identities=("ana",)) == {0, 4, 8}
    assert await found(identities=("ana",), private=False) == {0, 4}
    assert await found(identities=("ben",)) == {0, 8}
    assert await found(context="home") == {0, 12}


async def test_search_leaves_out_passages_of_excluded_items(vectors: VectorStore) -> None:
    await vectors.upsert([point(n, terms={7: 1.0}, item=f"item-{n % 3}") for n in range(9)])
    sparse = SparseVector((7,), (1.0,))
    for query in ({"dense": axis(0)}, {"sparse": sparse}):
        hits = await vectors.search(VectorQuery(scope=scope(), limit=9, without=("item-0", "item-2", "?"), **query))
        assert sorted(uuid.UUID(h.id).int for h in hits) == [1, 4, 7]


async def test_search_returns_nothing_of_another_tenant(vectors: VectorStore) -> None:
    await vectors.upsert([point(0, terms={7: 1.0}, item="i", tags=["x"])])
    other = {"tenant": "other"}
    filters: list[dict[str, Any]] = [{}, {"contexts": ("c",)}, {"domains": ("general",)}, {"tags_any": ("x",)}]
    for fields in filters:
        for query in ({"dense": axis(0)}, {"sparse": SparseVector((7,), (1.0,))}):
            assert await vectors.search(VectorQuery(scope=scope(**fields, **other), limit=9, **query)) == []
            assert len(await vectors.search(VectorQuery(scope=scope(**fields), limit=9, **query))) == 1
    assert await vectors.domains("other") == {}


async def test_a_search_finds_either_passages_or_statements(vectors: VectorStore) -> None:
    await vectors.upsert([point(0, terms={7: 1.0}), point(4, label="Event"), point(8, label="Event")])
    assert await dense(vectors, axis(0)) == [0]
    hits = await vectors.search(VectorQuery(scope=scope(), limit=9, dense=axis(0), label=Label.EVENT))
    assert {uuid.UUID(hit.id).int for hit in hits} == {4, 8}


async def test_statements_do_not_change_the_count_of_domains(vectors: VectorStore) -> None:
    await vectors.upsert([point(n, terms={7: 1.0} if n < 2 else {8: 1.0}) for n in range(8)])
    before = await vectors.domains("t")
    await vectors.upsert([point(100 + n, label="Event") for n in range(500)])
    assert await vectors.domains("t") == before


async def test_domains_are_counted_for_each_tenant(vectors: VectorStore) -> None:
    await vectors.upsert([point(n, domain="prose" if n < 3 else "coding") for n in range(5)])
    await vectors.upsert([point(9, tenant="other", domain="law")])
    assert await vectors.domains("t") == {"prose": 3, "coding": 2}
    assert await vectors.domains("other") == {"law": 1}


async def test_public_domain_counts_leave_out_private_and_non_portable_points(vectors: VectorStore) -> None:
    hidden: list[dict[str, Any]] = [{"sensitivity": "personal"}, {"sensitivity": "sensitive"}, {"portable": 0}]
    await vectors.upsert(
        [point(0, domain="prose"), *(point(n, domain="law", **one) for n, one in enumerate(hidden, 1))]
    )
    assert await vectors.domains("t", public=True) == {"prose": 1}
    assert await vectors.domains("t") == {"prose": 1, "law": 3}


async def test_payloads_are_read_back_as_stored(vectors: VectorStore) -> None:
    payload: dict[str, Any] = {
        "tenant": "t",
        "text": "naïve ☃\n\x00",
        "tags": ["a", "b"],
        "importance": 0.5,
        "created_at": to_ms(NOW),
    }
    await vectors.upsert([point(0, **payload)])
    found = (await vectors.payloads([name(0)]))[name(0)]
    assert {field: found[field] for field in payload} == payload
    assert type(found["created_at"]) is int
    await vectors.set_payload({name(0): payload})
    assert await vectors.payloads([name(0)]) == {name(0): payload}


async def test_empty_requests_do_nothing(vectors: VectorStore) -> None:
    await vectors.upsert([])
    await vectors.set_payload({})
    await vectors.delete([])
    assert await vectors.score([]) == []
    assert await vectors.payloads([]) == {}
    assert await vectors.ids(after=None, limit=10) == []
    assert await dense(vectors, axis(0)) == []
    assert await dense(vectors, axis(0), domains=()) == []


async def test_the_largest_requests_of_the_settings_are_answered(vectors: VectorStore) -> None:
    """The largest answers and the longest lists of a search with the settings as they are, and more."""
    count = 2500
    tags = tuple(f"tag-{n}" for n in range(64))
    await vectors.upsert([point(n, terms={7: 1.0}, item=f"i-{n}", tags=list(tags)) for n in range(count)])
    ids = [name(n) for n in range(count)]

    assert len(await vectors.ids(after=None, limit=5000)) == count
    assert len(await vectors.payloads(ids)) == count
    (scores,) = await vectors.score([ScoreQuery(ids=ids, dense=axis(1))])
    assert scores.keys() == set(ids)
    assert len(await dense(vectors, axis(0), limit=1000, tags_all=tags, tags_any=tags, tags_none=("no",) * 64)) == 1000
    items = tuple(f"i-{n}" for n in range(1, count))
    hits = await vectors.search(VectorQuery(scope=scope(), limit=1000, dense=axis(0), without=items))
    assert [hit.id for hit in hits] == ids[:1]
    await vectors.set_payload({point: {"tenant": "t", "label": "Chunk"} for point in ids[:200]})
    await vectors.delete(ids[1:])
    assert await vectors.ids(after=None, limit=5000) == ids[:1]


async def test_a_closed_vector_store_raises_unavailable(vectors: VectorStore) -> None:
    await vectors.close()
    await vectors.close()
    with pytest.raises(UnavailableError, match="closed"):
        await vectors.ids(after=None, limit=1)


async def test_present_returns_the_stored_points_of_all_tenants(vectors: VectorStore) -> None:
    await vectors.upsert([point(1), point(2, tenant="u")])
    assert await vectors.present([name(1), name(2), name(3)]) == {name(1), name(2)}
    assert await vectors.present([]) == set()


async def test_set_sparse_replaces_only_the_words_of_existing_points(vectors: VectorStore) -> None:
    await vectors.upsert([point(0, terms={1: 1.0}), point(1, terms={1: 1.0}), point(2)])
    changed = SparseVector((2, 3), (1.0, 2.0))
    await vectors.set_sparse({name(0): changed, name(2): changed, name(9): changed})
    found = {}
    for term in (1, 2):
        query = VectorQuery(scope=scope(), limit=10, sparse=SparseVector((term,), (1.0,)))
        found[term] = {uuid.UUID(hit.id).int for hit in await vectors.search(query)}
    assert found == {1: {1}, 2: {0, 2}}
    assert sorted(await dense(vectors, axis(0))) == [0, 1, 2], "the dense vectors are as they were"
    assert (await vectors.payloads([name(0)]))[name(0)]["tenant"] == "t"
    assert await vectors.present([name(9)]) == set()
    await vectors.set_sparse({})
