"""Fusion: the channels' hits of a question, fused into one ranked candidate per item.

Formulas: reciprocal rank fusion (RRF), and the weighted sum of standardised scores (z-score).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Literal

from vicw_core.index import sparse
from vicw_shared.ports import ItemRef, Scope, VectorHit


class SubGraph(StrEnum):
    """The two halves of the one graph."""

    CAUSAL = "causal"
    KNOWLEDGE = "knowledge"


_BACKGROUND = 20


def fuse_scores(scores: Mapping[str, Mapping[str, float]], weights: Mapping[str, float]) -> dict[str, float]:
    """Return Σ weight × z(channel) for every id of any channel, in standard deviations.

    ``scores`` are those of each channel, ``weights`` those of at least these. A missing score counts as 0 in its
    channel; the channels that have anything share the whole weight. The result compares candidates of one query, never
    of two.

    >>> channels = {"dense": {"exact": 0.30, "near": 0.36}, "bm25": {"exact": 5.0}}
    >>> strengths = fuse_scores(channels, {"dense": 0.6, "bm25": 0.4})
    >>> strengths["exact"] > strengths["near"]
    True
    """
    present = {name: weights[name] for name, found in scores.items() if found}
    if not any(present.values()):
        present = dict.fromkeys(present, 1.0)
    whole = sum(present.values())
    ids = list(dict.fromkeys(point for name in present for point in scores[name]))
    total = [0.0] * len(ids)
    for name, weight in present.items():
        total = [t + weight / whole * z for t, z in zip(total, _standardise(scores[name], ids), strict=True)]
    return dict(zip(ids, total, strict=True))


def squash(strength: float) -> float:
    """Return the logistic function of a strength: in (0, 1), in the same order, .5 for an average candidate."""
    return 1 / (1 + math.exp(-strength))


def _standardise(scores: Mapping[str, float], ids: list[str]) -> list[float]:
    values = [scores.get(name, 0.0) for name in ids]
    unrelated = max(0, _BACKGROUND - len(values))  # of score 0
    count = len(values) + unrelated
    mean = sum(values) / count
    deviation = math.sqrt((sum((value - mean) ** 2 for value in values) + unrelated * mean**2) / count)
    return [(value - mean) / deviation if deviation > 0 else 0.0 for value in values]


K = 60


CONVERGENCE = 0.1
"""Share that each further channel with an id adds to its score."""


def fuse_ranks(rankings: Mapping[str, Sequence[str]], weights: Mapping[str, float] | None = None) -> dict[str, float]:
    """Return Σ weight ÷ (K + rank) for every id, ranks from 1, times 1 + CONVERGENCE for each channel after the first.

    ``rankings`` holds each channel's ids, best first, without repeats. Scores are > 0, higher is better; an id that a
    channel lacks gets nothing from it.

    >>> fuse_ranks({"a": ["x", "y"], "b": ["y"]})["y"] == (1 / 62 + 1 / 61) * 1.1
    True
    """
    scores: dict[str, float] = {}
    channels: dict[str, int] = {}
    for channel, ids in rankings.items():
        weight = 1.0 if weights is None else weights.get(channel, 1.0)
        for rank, point in enumerate(ids, start=1):
            scores[point] = scores.get(point, 0.0) + weight / (K + rank)
            channels[point] = channels.get(point, 0) + 1
    return {point: score * (1 + CONVERGENCE * (channels[point] - 1)) for point, score in scores.items()}


GRAPH = "graph"


_GRAPH_WEIGHT = 0.3
"""Weight of the graph's list in rank fusion, where the others' weights add up to 2: 0.15 of 1."""


@dataclass(frozen=True)
class Wave:
    """The channels' hits: passages with their scores.

    ``ranked`` holds each channel's own hits, best first, and those of trigger phrases as GRAPH; ``scores`` adds each
    channel's scores of the others' hits. ``weights`` are those of the channels. ``words`` are the question's terms with
    their IDF, without forms in other languages.
    """

    ranked: Mapping[str, Sequence[VectorHit]]
    scores: Mapping[str, dict[str, float]]
    weights: Mapping[str, float]
    words: Mapping[int, float] = field(default_factory=dict)

    @property
    def ceiling(self) -> float:
        """The BM25 score of a text with all words of the question."""
        return sparse.ceiling(self.words)

    @cached_property
    def strengths(self) -> dict[str, float]:
        """The standardised and weighted score of every passage."""
        return fuse_scores(self.scores, self.weights)


@dataclass(frozen=True, slots=True)
class GraphHit:
    """Rank and score in [0, 1] of an item among those that the spreads reached, and its best way."""

    rank: int
    score: float
    depth: int
    edge_type: str
    sub_graph: SubGraph


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item with its passages, best first, as (uid, fused score). ``key`` is unique, also for consolidated items.

    Scores order the candidates of one question; ``strength`` is the score from 0, so that shares of it can be passed
    on. ``boosts`` are the gains by name, ``reached`` the place among the items of the spreads, ``duplicates`` the uids
    of near-duplicates, ``tagged`` the rank and score of an item reached over tags.
    """

    item: ItemRef
    score: float
    passages: Sequence[tuple[str, float]] = ()
    kind: Literal["anchor", "associative"] = "anchor"
    boosts: Mapping[str, float] = field(default_factory=dict)
    reached: GraphHit | None = None
    duplicates: tuple[str, ...] = ()
    tagged: tuple[int, float] | None = None
    key: str = field(init=False)
    """The uid; of a consolidated item its own."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", _key(self.item))

    @property
    def strength(self) -> float:
        """The score, or 0 for a candidate below the average."""
        return max(self.score, 0.0)

    def raised(self, **gains: float) -> Candidate:
        """Return the candidate with these gains added to its score and recorded by their names, in this order."""
        score, boosts = self.score, dict(self.boosts)
        for name, gain in gains.items():
            score += gain
            boosts[name] = boosts.get(name, 0.0) + gain
        return replace(self, score=score, boosts=boosts)


def _key(item: ItemRef) -> str:
    return item.part or item.uid


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
    return Wave(ranked, scores, {**wave.weights, **more.weights}, wave.words)


def fuse_wave(wave: Wave, *, method: str) -> dict[str, float]:
    """Return the fused score of every passage, higher is better. A channel alone ranks by its own score."""
    if method == "zscore":
        return dict(wave.strengths)
    present = [name for name, hits in wave.ranked.items() if hits and name != GRAPH]
    if len(present) == 1:
        return dict(wave.scores[present[0]])
    rankings = {name: [hit.id for hit in hits] for name, hits in wave.ranked.items()}
    return fuse_ranks(rankings, {name: 2 * weight for name, weight in wave.weights.items()} | {GRAPH: _GRAPH_WEIGHT})


def wire_score(score: float, method: str) -> float:
    """Return a score as the wire has it: standardised scores in (0, 1), .5 for an average candidate."""
    return squash(score) if method == "zscore" else score


def group(fused: Mapping[str, float], owners: Mapping[str, ItemRef]) -> list[Candidate]:
    """Return one candidate per item, scored by its best passage, best first; ties in order of key.

    Passages without an owner are left out: these are vectors without a node.
    """
    by_key: dict[str, tuple[ItemRef, list[tuple[str, float]]]] = {}
    for passage, score in sorted(fused.items(), key=lambda entry: (-entry[1], entry[0])):
        if (item := owners.get(passage)) is not None:
            by_key.setdefault(_key(item), (item, []))[1].append((passage, score))
    return in_order(Candidate(item, passages[0][1], passages) for item, passages in by_key.values())


def not_shown(scope: Scope, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Leave out the items that a scope is without. Its searches do so, too, but for consolidated ones."""
    shown = set(scope.without)
    return [one for one in candidates if one.key not in shown]


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
