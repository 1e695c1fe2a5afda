"""The ceiling-normalised blend of a dense and a lexical score (after Bruch, Gai and Ingber, 2023)."""

from __future__ import annotations

from collections.abc import Mapping


def ceiling(idf: list[float], saturation: float) -> float:
    """Return the most that BM25 can give a query: ``saturation`` (k1 + 1) times the sum of its terms' IDF."""
    return saturation * sum(idf)


def fuse(
    dense: Mapping[str, float], bm25: Mapping[str, float], *, alpha: float, bm25_ceiling: float
) -> dict[str, float]:
    """Return alpha × cosine + (1 − alpha) × BM25 ÷ its ceiling for every id of either channel.

    Cosines are in [-1, 1], BM25 in [0, ceiling]; the result is in [-alpha, 1], higher is better, and comparable
    between queries. An id that a channel lacks counts 0 there. With a ceiling of 0 (no term of the query is in
    the collection) BM25 counts 0.

    >>> fuse({"x": 0.5}, {"x": 3.0, "y": 6.0}, alpha=0.5, bm25_ceiling=12.0)
    {'x': 0.375, 'y': 0.25}
    """
    share = 0.0 if bm25_ceiling <= 0 else (1 - alpha) / bm25_ceiling
    ids = dict.fromkeys([*dense, *bm25])
    return {point: alpha * dense.get(point, 0.0) + share * bm25.get(point, 0.0) for point in ids}
