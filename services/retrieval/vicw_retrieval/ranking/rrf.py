"""Weighted reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009; seed 004, stage 4: k = 60)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

K = 60
CONVERGENCE = 0.1
"""Share that each further channel with an id adds to its score (seed 002 §7.1)."""


def fuse(rankings: Mapping[str, Sequence[str]], weights: Mapping[str, float] | None = None) -> dict[str, float]:
    """Return Σ weight ÷ (K + rank) for every id, ranks from 1, times 1 + CONVERGENCE for each channel after the first.

    ``rankings`` holds each channel's ids, best first, without repeats. Scores are > 0, higher is better; an id that a
    channel lacks gets nothing from it.

    >>> fuse({"a": ["x", "y"], "b": ["y"]})["y"] == (1 / 62 + 1 / 61) * 1.1
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
