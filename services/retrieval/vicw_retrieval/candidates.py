"""From channel hits to ranked items: exact scores in both channels, fusion, one result per item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from vicw_retrieval.ranking import blend, minmax, rrf, zscore
from vicw_shared.ports import ItemRef, VectorHit

GRAPH = "graph"
_GRAPH_WEIGHT = 0.15
"""Of the graph's list in rank fusion, where the others' weights add up to 2 (seed 002 §8.3)."""


@dataclass(frozen=True, slots=True)
class Wave:
    """What the channels brought: passages with their scores, and the ceiling of BM25 for this query.

    ``ranked`` holds each channel's own hits, best first, those of GRAPH among them; ``scores`` adds the scores of
    passages that only another found; ``strengths`` are both channels' scores standardised and weighted.
    """

    ranked: Mapping[str, Sequence[VectorHit]]
    scores: Mapping[str, Mapping[str, float]]
    strengths: Mapping[str, float]
    bm25_ceiling: float = 0.0


@dataclass(slots=True)
class Candidate:
    """An item with its passages, best first, as (uid, fused score).

    Scores order the candidates of one question; ``standing`` is what they are worth at least, from 0, so that shares
    of it can be handed on.
    """

    item: ItemRef
    score: float
    passages: list[tuple[str, float]] = field(default_factory=list)

    @property
    def standing(self) -> float:
        """The score, or 0 of one that stands out less than an average candidate."""
        return max(self.score, 0.0)


def is_full(wave: Wave, limit: int) -> bool:
    """Tell whether a channel found as much as it may, so that there can be more."""
    return any(len(hits) >= limit for name, hits in wave.ranked.items() if name != GRAPH)


def merge(wave: Wave, more: Wave, alpha: float) -> Wave:
    """Return both waves as one, every passage judged anew among all."""
    ranked = {
        name: sorted([*wave.ranked.get(name, ()), *more.ranked.get(name, ())], key=lambda hit: -hit.score)
        for name in wave.ranked.keys() | more.ranked.keys()
    }
    scores = {name: {**wave.scores.get(name, {}), **more.scores.get(name, {})} for name in ranked}
    strengths = zscore.combine(scores.get("dense", {}), scores.get("bm25", {}), alpha)
    return Wave(ranked, scores, strengths, wave.bm25_ceiling)


def fuse(wave: Wave, *, method: str, alpha: float) -> dict[str, float]:
    """Return the fused score of every passage, higher is better. A channel alone ranks by its own score."""
    if method == "zscore":
        return dict(wave.strengths)
    present = [name for name, hits in wave.ranked.items() if hits and name != GRAPH]
    if len(present) == 1:
        return dict(wave.scores[present[0]])
    if method == "rrf":
        rankings = {name: [hit.id for hit in hits] for name, hits in wave.ranked.items()}
        return rrf.fuse(rankings, {"dense": 2 * alpha, "bm25": 2 * (1 - alpha), GRAPH: 2 * _GRAPH_WEIGHT})
    dense, bm25 = wave.scores.get("dense", {}), wave.scores.get("bm25", {})
    if method == "blend":
        return blend.fuse(dense, bm25, alpha=alpha, bm25_ceiling=wave.bm25_ceiling)
    return minmax.fuse(dense, bm25, alpha)


def shown(score: float, method: str) -> float:
    """Return a score as the wire has it: standardised ones in (0, 1), .5 for an average candidate."""
    return zscore.squash(score) if method == "zscore" else score


def group(fused: Mapping[str, float], owners: Mapping[str, ItemRef]) -> list[Candidate]:
    """Return one candidate per item, scored by its best passage, best first; ties in order of uid.

    A passage without an owner is a vector without a node: it is left out.
    """
    found: dict[str, Candidate] = {}
    for passage, score in sorted(fused.items(), key=lambda entry: (-entry[1], entry[0])):
        item = owners.get(passage)
        if item is not None:
            found.setdefault(item.uid, Candidate(item, score)).passages.append((passage, score))
    return in_order(found.values())


def in_order(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return candidates, best first; ties in order of uid."""
    return sorted(candidates, key=lambda candidate: (-candidate.score, candidate.item.uid))


def chosen(candidates: Sequence[Candidate], wave: Wave, limit: int) -> list[Candidate]:
    """Return the first ``limit`` candidates; what the graph brings up is among them, in half of the places at most.

    It takes the places of the last others, so that the order stays that of the scores.
    """
    brought = {hit.id for hit in wave.ranked.get(GRAPH, ())}

    def is_brought(candidate: Candidate) -> bool:
        return any(passage in brought for passage, _ in candidate.passages)

    first = candidates[:limit]
    others = [candidate.item.uid for candidate in first if not is_brought(candidate)]
    late = [candidate for candidate in candidates[limit:] if is_brought(candidate)][: min(limit // 2, len(others))]
    making_room = set(others[len(others) - len(late) :])
    return [candidate for candidate in first if candidate.item.uid not in making_room] + late
