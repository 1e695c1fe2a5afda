"""Causal chain search: breadth first from the subject of a question, best paths first, to chain ends or to limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vicw_retrieval.causal_chains.causes import CausalGraph
from vicw_retrieval.causal_chains.direction import ChainDirection
from vicw_retrieval.causal_chains.model import CausalPath, CausalPathEdge, certainty_of
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
                self._ended.append(path.ended(complete=not further))
            else:
                grown += further
        self._open = sorted(grown, key=lambda path: path.order)[: _OPEN_A_CHAIN * self._most]


def _is_part(one: Sequence[str], other: Sequence[str]) -> bool:
    length = len(one)
    return any(other[at : at + length] == one for at in range(len(other) - length + 1))
