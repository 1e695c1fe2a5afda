"""The ceiling-normalised blend of a dense and a lexical score (after Bruch, Gai and Ingber, 2023)."""

from __future__ import annotations

from collections.abc import Mapping


def ceiling(idf: list[float], saturation: float) -> float:
    """Return the most that BM25 can give a query: ``saturation`` (k1 + 1) times the sum of its terms' IDF."""
    return saturation * sum(idf)


def fuse(
    scores: Mapping[str, Mapping[str, float]], weights: Mapping[str, float], ceilings: Mapping[str, float]
) -> dict[str, float]:
    """Return Σ weight × score ÷ ceiling for every id of any channel; a ceiling is 1 unless one is stated.

    With cosines in [-1, 1] and BM25 in [0, ceiling] and weights that add up to 1, the result is in [-1, 1], higher is
    better, and comparable between queries. An id that a channel lacks counts 0 there. A channel of ceiling 0 (no term
    of the query is in the collection) counts nothing.

    >>> channels = {"dense": {"x": 0.5}, "bm25": {"x": 3.0, "y": 6.0}}
    >>> fuse(channels, {"dense": 0.5, "bm25": 0.5}, {"bm25": 12.0})
    {'x': 0.375, 'y': 0.25}
    """
    shares = {name: weights[name] / ceilings.get(name, 1.0) for name in scores if ceilings.get(name, 1.0) > 0}
    ids = dict.fromkeys(point for found in scores.values() for point in found)
    return {point: sum(share * scores[name].get(point, 0.0) for name, share in shares.items()) for point in ids}
