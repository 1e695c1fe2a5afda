"""Min-max fusion: each channel's scores stretched over [0, 1] (relative score fusion)."""

from __future__ import annotations

from collections.abc import Mapping


def fuse(scores: Mapping[str, Mapping[str, float]], weights: Mapping[str, float]) -> dict[str, float]:
    """Return Σ weight × minmax(channel) for every id of any channel, in [0, Σ weights].

    A missing score counts as the channel's least; a channel whose scores are all alike says 1 of each that it has.

    >>> fuse({"dense": {"x": 0.2, "y": 0.4}, "bm25": {"x": 3.0}}, {"dense": 0.5, "bm25": 0.5})
    {'x': 0.5, 'y': 0.5}
    """
    ids = dict.fromkeys(point for found in scores.values() for point in found)
    stretched = {name: _stretch(found) for name, found in scores.items()}
    return {point: sum(weights[name] * of.get(point, 0.0) for name, of in stretched.items()) for point in ids}


def _stretch(scores: Mapping[str, float]) -> dict[str, float]:
    low, high = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    return {name: (score - low) / (high - low) if high > low else 1.0 for name, score in scores.items()}
