"""Causal chain search: breadth first from results and their events, best paths first, to chain ends or to limits."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from vicw_core.index import sparse
from vicw_retrieval.causal_chains.causes import CausalGraph
from vicw_retrieval.causal_chains.model import CausalPath, CausalPathEdge, ChainDirection
from vicw_shared.model import Edge

_OPEN_A_CHAIN = 8
"""Unfinished paths that are kept for each chain asked for."""


@dataclass(frozen=True, slots=True)
class ChainStart:
    """Possible start of a chain: a node that was read. ``relevance`` ≥ 0; ``rank`` is that of its result."""

    uid: str
    relevance: float
    rank: int


@dataclass(frozen=True, slots=True)
class _Path:
    start: ChainStart
    at: str
    edges: tuple[Edge, ...]
    passed: frozenset[str]
    certainty: float
    complete: bool = False

    @property
    def order(self) -> tuple[float, float, int, tuple[str, ...]]:
        """Sort key: the most relevant start first, then the most certain path; independent of the engine."""
        return -self.start.relevance, -self.certainty, self.start.rank, tuple(edge.id for edge in self.edges)

    def further(self, causes: CausalGraph) -> Iterator[_Path]:
        """Yield the path, one edge longer, to each node not yet passed; of edges to one event the most certain."""
        best: dict[str, tuple[float, Edge, str]] = {}
        for neighbour in causes.neighbours(self.at):
            alike = causes.equivalents(neighbour.node.uid)
            if alike & self.passed:
                continue
            edge = neighbour.edge
            step = (certainty_of(edge), edge, neighbour.node.uid)
            best[min(alike)] = max(best.get(min(alike), step), step, key=lambda one: (one[0], one[1].id))
        for certainty, edge, uid in best.values():
            passed = self.passed | causes.equivalents(uid)
            yield _Path(self.start, uid, (*self.edges, edge), passed, self.certainty * certainty)

    def ended(self, *, complete: bool) -> _Path:
        return _Path(self.start, self.at, self.edges, self.passed, self.certainty, complete)


class ChainSearch:
    """The search for chains; what it has found stands when time runs out."""

    def __init__(self, causes: CausalGraph, direction: ChainDirection, *, hops: int, most: int) -> None:
        self._causes = causes
        self._direction = direction
        self._hops = hops
        self._most = most
        self._open: list[_Path] = []
        self._ended: list[_Path] = []

    async def run(self, starts: Sequence[ChainStart]) -> None:
        """Follow causal edges from nodes that were read, one batched hop at a time."""
        self._open = [_Path(s, s.uid, (), frozenset(self._causes.equivalents(s.uid)), 1.0) for s in starts]
        for hop in range(self._hops + 1):
            await self._causes.read(path.at for path in self._open)
            self._grow(last=hop == self._hops)
            if not self._open:
                break

    def chains(self) -> list[CausalPath]:
        """Return the best chains, without proof, the most relevant first; none is a part of another."""
        paths = sorted((path for path in (*self._ended, *self._open) if path.edges), key=lambda path: path.order)
        kept: dict[tuple[str, ...], _Path] = {}
        for path in paths:
            ids = path.order[-1]
            if not any(_is_part(ids, other) or _is_part(other, ids) for other in kept):
                kept[ids] = path
        return [
            CausalPath(
                self._direction, tuple(map(CausalPathEdge, path.edges)), path.certainty, path.start.rank, path.complete
            )
            for path in list(kept.values())[: self._most]
        ]

    def _grow(self, *, last: bool) -> None:
        grown: list[_Path] = []
        for path in self._open:
            further = list(path.further(self._causes))
            if last or not further:
                self._ended.append(path.ended(complete=not further and self._causes.was_read(path.at)))
            else:
                grown += further
        self._open = sorted(grown, key=lambda path: path.order)[: _OPEN_A_CHAIN * self._most]


def _is_part(one: Sequence[str], other: Sequence[str]) -> bool:
    length = len(one)
    return any(other[at : at + length] == one for at in range(len(other) - length + 1))


_RANK_WEIGHT = 0.25
"""Relevance for belonging to the best result; having all query terms is worth 1."""
_MIN_SHARE = 0.5
"""Minimum relevance of a start as a share of the best start's."""
_WHOLE = 0.95
"""Factor on statements and items: an event with the query terms is more specific than its statement or item."""
_MAX_STARTS = 50


async def starts_of(causes: CausalGraph, query: str, results: Sequence[tuple[str, Sequence[str]]]) -> list[ChainStart]:
    """Return the starts that have a causal neighbour, most relevant first, with these neighbours read.

    ``results`` are items with their passages, best first; all are known and visible.
    """
    await causes.read_extracted([passage for _, passages in results for passage in passages])
    nodes = causes.nodes
    ranks: dict[str, int] = {}
    texts: dict[str, str] = {}
    for rank, (uid, passages) in enumerate(results, start=1):
        ranks.setdefault(uid, rank)
        texts[uid] = " ".join(node.text or "" for passage in passages if (node := nodes.get(passage)))
        for node in (node for passage in passages for node in causes.extracted_in(passage)):
            ranks.setdefault(node.uid, rank)
            texts[node.uid] = node.text or node.name
    shares = _shares(query, texts)
    events = {uid for uid in ranks if not (nodes[uid].is_statement or nodes[uid].content_hash)}
    starts = [
        ChainStart(uid, (1 if uid in events else _WHOLE) * shares[uid] + _RANK_WEIGHT / rank, rank)
        for uid, rank in ranks.items()
    ]
    starts = heapq.nsmallest(_MAX_STARTS, starts, key=lambda start: (-start.relevance, start.rank, start.uid))
    await causes.read(start.uid for start in starts)
    leading = [start for start in starts if causes.neighbours(start.uid)]
    best = max((start.relevance for start in leading), default=0.0)
    return [start for start in leading if start.relevance >= _MIN_SHARE * best]


def _shares(query: str, texts: Mapping[str, str]) -> dict[str, float]:
    """Return the share of the question that each text covers, in [0, 1]: its terms, weighted by rarity among the texts.

    Terms that no text has are ignored.
    """
    query_terms = sparse.encode_query(query).indices
    has = {uid: set(query_terms).intersection(sparse.document_terms(text)) for uid, text in texts.items()}
    counts = Counter(term for terms in has.values() for term in terms)
    rarity = {term: math.log(1 + (len(texts) - n + 0.5) / (n + 0.5)) for term, n in counts.items()}
    total = sum(rarity.values())
    return {uid: sum(rarity[term] for term in terms) / total if total else 0.0 for uid, terms in has.items()}


def certainty_of(edge: Edge) -> float:
    """Return the certainty in [0, 1] that one caused the other: the extracted one, else the edge's weight."""
    certainty = edge.properties.get("certainty")
    return float(certainty) if isinstance(certainty, int | float) else edge.weight
