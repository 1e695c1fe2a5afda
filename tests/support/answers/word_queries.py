"""Questions of few words in twelve languages, over documents in the same, and on how many two stores agree."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.stores.pairs import Side

_DATA = Path(__file__).parents[2] / "bench" / "data" / "words"
_TENANT = "t"
_BATCH = 50
TOP = 5
WAYS: dict[str, dict[str, Any]] = {
    "bm25": {"channels": ["bm25"]},
    "fulltext": {"channels": ["fulltext"]},
}
"""Ways to ask by words: by sparse vectors, and by the graph's full text."""


@dataclass(frozen=True, slots=True)
class WordQuery:
    """A question, and the document that it must find."""

    language: str
    query: str
    relevant: str


def word_queries() -> list[WordQuery]:
    """Return the questions."""
    return [WordQuery(**row) for row in _rows("queries")]


async def fill(side: Side) -> None:
    """Store and index the documents, in one context."""
    items = _rows("documents")
    for start in range(0, len(items), _BATCH):
        await side.ingest({"context": "words", "items": items[start : start + _BATCH]}, _TENANT, None)
    await side.indexer.drain()


async def ask(side: Side, query: str, way: str) -> list[str | None]:
    """Return the ids of the first results."""
    answer = await side.retrieve({"query": query, "limit": TOP, "expand": {"hops": 0}, **WAYS[way]}, _TENANT)
    assert answer.degraded == ()
    return [result.id for result in answer.results]


@dataclass(frozen=True, slots=True)
class Agreement:
    """On which questions two stores have the same first results, and which find what they must."""

    queries: Sequence[WordQuery]
    differing: Sequence[str]
    missed: Sequence[str]

    @property
    def count(self) -> int:
        """The number of questions on which they agree."""
        return len(self.queries) - len(self.differing)


async def compare(one: Side, other: Side, way: str) -> Agreement:
    """Ask both stores all questions in one way."""
    queries = word_queries()
    differing, missed = [], []
    for query in queries:
        ours, theirs = await ask(one, query.query, way), await ask(other, query.query, way)
        if set(ours) != set(theirs):
            differing.append(f"{query.language} {query.query}: {ours} {theirs}")
        if not {query.relevant} <= set(ours) & set(theirs):
            missed.append(f"{query.language} {query.query}: {ours} {theirs}")
    return Agreement(queries, differing, missed)


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (_DATA / f"{name}.jsonl").read_text("utf-8").splitlines()]
