"""Candidates: fusion of the channels' passage scores, and one ranked candidate per item."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from vicw_retrieval.model.spread_paths import SubGraph
from vicw_retrieval.ranking import fusion
from vicw_shared.ports import ItemRef, VectorHit

GRAPH = "graph"
_GRAPH_WEIGHT = 0.3
"""Weight of the graph's list in rank fusion, where the others' weights add up to 2: 0.15 of 1."""


@dataclass(frozen=True)
class Wave:
    """The channels' hits: passages with their scores.

    ``ranked`` holds each channel's own hits, best first, and those of trigger phrases as GRAPH; ``scores`` adds each
    channel's scores of the others' hits. ``weights`` are those of the channels.
    """

    ranked: Mapping[str, Sequence[VectorHit]]
    scores: Mapping[str, dict[str, float]]
    weights: Mapping[str, float]

    @cached_property
    def strengths(self) -> dict[str, float]:
        """The standardised and weighted score of every passage."""
        return fusion.fuse_scores(self.scores, self.weights)


@dataclass(frozen=True, slots=True)
class GraphHit:
    """Rank and score in [0, 1] of an item among those that the spreads reached, and its best way."""

    rank: int
    score: float
    depth: int
    edge_type: str
    sub_graph: SubGraph


@dataclass(slots=True)
class Candidate:
    """An item with its passages, best first, as (uid, fused score). ``key`` is unique, also for consolidated items.

    Scores order the candidates of one question; ``strength`` is the score from 0, so that shares of it can be passed
    on. ``boosts`` are the gains by name, ``reached`` the place among the items of the spreads, ``duplicates`` the uids
    of near-duplicates, ``tagged`` the rank and score of an item reached over tags.
    """

    item: ItemRef
    score: float
    passages: list[tuple[str, float]] = field(default_factory=list)
    kind: Literal["anchor", "associative"] = "anchor"
    boosts: dict[str, float] = field(default_factory=dict)
    reached: GraphHit | None = None
    duplicates: list[str] = field(default_factory=list)
    tagged: tuple[int, float] | None = None

    @property
    def key(self) -> str:
        """The uid; of a consolidated item its own."""
        return self.item.key

    @property
    def strength(self) -> float:
        """The score, or 0 for a candidate below the average."""
        return max(self.score, 0.0)

    def boost(self, by: str, gain: float) -> None:
        """Add a gain to the score and record its name."""
        self.score += gain
        self.boosts[by] = self.boosts.get(by, 0.0) + gain


def is_full(wave: Wave, limit: int) -> bool:
    """Return whether a channel reached its limit, so that there may be more hits."""
    return any(len(hits) >= limit for name, hits in wave.ranked.items() if name != GRAPH)


def merge(wave: Wave, more: Wave) -> Wave:
    """Return both waves as one, so that strengths compare all their passages."""
    ranked = {
        name: sorted([*wave.ranked.get(name, ()), *more.ranked.get(name, ())], key=lambda hit: -hit.score)
        for name in wave.ranked.keys() | more.ranked.keys()
    }
    names = dict.fromkeys([*wave.scores, *more.scores])
    scores = {name: {**wave.scores.get(name, {}), **more.scores.get(name, {})} for name in names}
    return Wave(ranked, scores, {**wave.weights, **more.weights})


def fuse_wave(wave: Wave, *, method: str) -> dict[str, float]:
    """Return the fused score of every passage, higher is better. A channel alone ranks by its own score."""
    if method == "zscore":
        return dict(wave.strengths)
    present = [name for name, hits in wave.ranked.items() if hits and name != GRAPH]
    if len(present) == 1:
        return dict(wave.scores[present[0]])
    rankings = {name: [hit.id for hit in hits] for name, hits in wave.ranked.items()}
    return fusion.fuse_ranks(
        rankings, {name: 2 * weight for name, weight in wave.weights.items()} | {GRAPH: _GRAPH_WEIGHT}
    )


def wire_score(score: float, method: str) -> float:
    """Return a score as the wire has it: standardised scores in (0, 1), .5 for an average candidate."""
    return fusion.squash(score) if method == "zscore" else score


def group(fused: Mapping[str, float], owners: Mapping[str, ItemRef]) -> list[Candidate]:
    """Return one candidate per item, scored by its best passage, best first; ties in order of key.

    Passages without an owner are left out: these are vectors without a node.
    """
    by_key: dict[str, Candidate] = {}
    for passage, score in sorted(fused.items(), key=lambda entry: (-entry[1], entry[0])):
        item = owners.get(passage)
        if item is None:
            continue
        if item.key not in by_key:
            by_key[item.key] = Candidate(item, score)
        by_key[item.key].passages.append((passage, score))
    return in_order(by_key.values())


def in_order(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return candidates, best first; ties in order of key."""
    return sorted(candidates, key=lambda candidate: (-candidate.score, candidate.key))


def choose(candidates: Sequence[Candidate], wave: Wave, limit: int) -> list[Candidate]:
    """Return the first ``limit`` candidates, those of trigger phrases among them, in half of the places at most.

    By rank (protected items first) they take the places of the last other candidates, then of phrase hits of lower
    rank. The order stays that of the scores.
    """
    ranks = {hit.id: rank for rank, hit in enumerate(wave.ranked.get(GRAPH, ()))}

    def rank(candidate: Candidate) -> float:
        return min((ranks[passage] for passage, _ in candidate.passages if passage in ranks), default=math.inf)

    first, rest = candidates[:limit], candidates[limit:]
    late = sorted((one for one in rest if rank(one) < math.inf), key=rank)[: limit // 2]
    others, brought = ([one for one in first[::-1] if (rank(one) < math.inf) == is_brought] for is_brought in (0, 1))
    swapped = [pair for pair in zip(late, others + brought, strict=False) if rank(pair[0]) < rank(pair[1])]
    taken, given = {one.key for one, _ in swapped}, {one.key for _, one in swapped}
    return [*(one for one in first if one.key not in given), *(one for one in rest if one.key in taken)]
