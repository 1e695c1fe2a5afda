"""Min-max fusion: each channel's scores stretched over [0, 1] (relative score fusion)."""

from __future__ import annotations

from collections.abc import Mapping


def fuse(dense: Mapping[str, float], bm25: Mapping[str, float], alpha: float) -> dict[str, float]:
    """Return alpha × minmax(dense) + (1 − alpha) × minmax(bm25) for every id of either channel, in [0, 1].

    A missing score counts as the channel's least; a channel whose scores are all alike says 1 of each that it has.

    >>> fuse({"x": 0.2, "y": 0.4}, {"x": 3.0}, alpha=0.5)
    {'x': 0.5, 'y': 0.5}
    """
    ids = dict.fromkeys([*dense, *bm25])
    first, second = _stretch(dense), _stretch(bm25)
    return {name: alpha * first.get(name, 0.0) + (1 - alpha) * second.get(name, 0.0) for name in ids}


def _stretch(scores: Mapping[str, float]) -> dict[str, float]:
    low, high = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    return {name: (score - low) / (high - low) if high > low else 1.0 for name, score in scores.items()}
