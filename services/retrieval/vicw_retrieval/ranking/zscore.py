"""Fusion of standardised scores: each channel is measured by how far a hit stands out among its candidates.

The mean and deviation are those of the query's own candidates, so a channel that separates them well counts more than
one that scores them all alike; no constant of a model, a corpus or a domain is involved (score standardisation after
Montague and Aslam, 2001). Small sets are filled up with unrelated candidates of score 0: of two candidates alone, each
would be one deviation from the mean, however little they differ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

_BACKGROUND = 20


def combine(scores: Mapping[str, Mapping[str, float]], weights: Mapping[str, float]) -> dict[str, float]:
    """Return Σ weight × z(channel) for every id of any channel, in standard deviations.

    ``scores`` are those of each channel, ``weights`` those of at least these. A missing score counts as 0 in its
    channel; the channels that have anything share the whole weight. The result compares candidates of one query, never
    of two.

    >>> channels = {"dense": {"exact": 0.30, "near": 0.36}, "bm25": {"exact": 5.0}}
    >>> strengths = combine(channels, {"dense": 0.6, "bm25": 0.4})
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
