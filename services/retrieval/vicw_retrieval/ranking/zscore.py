"""Fusion of standardised scores: each channel is measured by how far a hit stands out among its candidates.

The mean and deviation are those of the query's own candidates, so a channel that separates them well counts more than
one that sees them all alike; no constant of a model, a corpus or a domain is in it (score standardisation after
Montague and Aslam, 2001). A query with few candidates is judged as if there were more that have nothing to do with it:
of two candidates alone, each is one deviation from the mean, however little they differ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

_BACKGROUND = 20


def combine(dense: Mapping[str, float], bm25: Mapping[str, float], alpha: float) -> dict[str, float]:
    """Return alpha × z(dense) + (1 − alpha) × z(bm25) for every id of either channel, in standard deviations.

    A missing score counts as 0 in its channel; a channel that is alone counts whole. The result compares candidates
    of one query, never of two.

    >>> strengths = combine({"exact": 0.30, "near": 0.36}, {"exact": 5.0}, alpha=0.6)
    >>> strengths["exact"] > strengths["near"]
    True
    """
    ids = list(dict.fromkeys([*dense, *bm25]))
    weight = 1.0 if not bm25 else 0.0 if not dense else alpha
    dense_z, bm25_z = _standardise(dense, ids), _standardise(bm25, ids)
    return {name: weight * d + (1 - weight) * b for name, d, b in zip(ids, dense_z, bm25_z, strict=True)}


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
