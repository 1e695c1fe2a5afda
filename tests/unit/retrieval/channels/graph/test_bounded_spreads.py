"""Spreads end at counts, not at the clock: the same question finds the same, and says what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from support.answers.explanation import explained
from support.stores.memory import Memory
from vicw_shared.ports import Spread, WeightedNeighbour
from vicw_stores.sqlite import SqliteGraphStore

QUERY = "Where was the writer born whose novel became the film The Dry?"
PAGES: tuple[dict[str, Any], ...] = (
    {"id": "film", "name": "The Dry (film)", "text": "The Dry is a film after a novel by Jane Harper."},
    {"id": "harper", "name": "Jane Harper", "text": "She was born in Manchester and grew up in Virginia."},
    *({"id": f"p{n}", "name": f"Essay {n}", "text": f"Critics praise Jane Harper, part {n}."} for n in range(60)),
)
LIMIT = 60
BRIDGES = {"entity_hops": 2, "title_match": True}


@pytest.fixture
def edges_returned(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the edges of each read that leads over a name."""
    counts: list[int] = []
    own = SqliteGraphStore.weighted_neighbours

    async def counted(
        self: SqliteGraphStore, tenant: str, uids: Sequence[str], spread: Spread, limit: int, **options: Any
    ) -> list[WeightedNeighbour]:
        found = await own(self, tenant, uids, spread, limit, **options)
        if spread[0] == "MENTIONS":
            counts.append(len(found))
        return found

    monkeypatch.setattr(SqliteGraphStore, "weighted_neighbours", counted)
    return counts


async def test_a_spread_that_reaches_its_limit_says_so_and_is_not_degraded(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, edges_returned: list[int]
) -> None:
    monkeypatch.setattr("vicw_retrieval.request.hop_limit.WHOLE_NODE", 1)
    await memory.ingest(*PAGES, domain="wiki")
    free = await explained(memory, QUERY, BRIDGES)
    assert max(edges_returned) > LIMIT
    assert free.response.explain is not None
    assert free.response.explain.bounded == ()
    edges_returned.clear()
    few = await explained(memory, QUERY, BRIDGES | {"hop_edges": LIMIT})
    assert 0 < max(edges_returned) <= LIMIT
    assert few.response.explain is not None
    assert few.response.explain.bounded == ("bridges",)
    assert few.response.degraded == ()
    assert few.response.explain.graph.in_time
    assert few.results["harper"].rank == 2, "a page that is named is found by its title"


async def test_a_bounded_question_finds_the_same_again(memory: Memory) -> None:
    await memory.ingest(*PAGES, domain="wiki")
    answers = [(await explained(memory, QUERY, BRIDGES | {"hop_edges": LIMIT})).response for _ in range(3)]
    first, *others = [[(result.id, result.score) for result in answer.results] for answer in answers]
    assert all(other == first for other in others)
