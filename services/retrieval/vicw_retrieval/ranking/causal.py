"""Causal boost, after fusion: what brought a good candidate about, or what it led to, is worth more (seed 002 B)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def boost(standings: Mapping[str, float], links: Iterable[tuple[str, str, float]], factor: float) -> dict[str, float]:
    """Return what is added to each candidate: ``factor`` × the best certainty × standing among its causal neighbours.

    ``standings`` are ≥ 0, ``links`` are (cause, effect, certainty in [0, 1]); either end gains by the other. The best
    counts, not the sum, so that a hub gains no more than a chain. Who has no neighbour in the list gains nothing and
    is left out.

    >>> boost({"a": 1.0, "b": 0.5, "c": 0.9}, [("a", "b", 0.8)], 0.1)
    {'b': 0.08000000000000002, 'a': 0.04000000000000001}
    """
    gains: dict[str, float] = {}
    for cause, effect, certainty in links:
        for one, other in ((effect, cause), (cause, effect)):
            if one != other and one in standings and other in standings:
                gains[one] = max(gains.get(one, 0.0), factor * certainty * standings[other])
    return gains
