"""Fusion of rankings: reciprocal rank fusion (RRF), and the weighted sum of standardised scores (z-score)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

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
