"""Weighted reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009; seed 004, stage 4: k = 60)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

K = 60


def fuse(rankings: Mapping[str, Sequence[str]], weights: Mapping[str, float] | None = None) -> dict[str, float]:
    """Return Σ weight ÷ (K + rank) for every id, ranks from 1.

    ``rankings`` holds each channel's ids, best first, without repeats. Scores are in (0, Σ weights ÷ (K + 1)],
    higher is better; an id that a channel lacks gets nothing from it.

    >>> fuse({"a": ["x", "y"], "b": ["y"]})["y"] == 1 / 62 + 1 / 61
    True
    """
    scores: dict[str, float] = {}
    for channel, ids in rankings.items():
        weight = 1.0 if weights is None else weights.get(channel, 1.0)
        for rank, point in enumerate(ids, start=1):
            scores[point] = scores.get(point, 0.0) + weight / (K + rank)
    return scores
