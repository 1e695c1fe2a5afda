"""Results of an ambiguous question: those of each domain by themselves, in numbers by how well it fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vicw_retrieval.ranking.fusion import Candidate, Wave, choose


def places(shares: Mapping[str, float], counts: Mapping[str, int], limit: int) -> dict[str, int]:
    """Return the places of each domain, by its share of ``limit``: at least one if it has candidates and there is room.

    ``shares`` are positive, the best first; ``counts`` are those of the candidates: what a domain cannot fill goes to
    the others.

    >>> places({"coding": 0.8, "creative": 0.2}, {"coding": 50, "creative": 50}, 10)
    {'coding': 8, 'creative': 2}
    >>> places({"coding": 0.95, "creative": 0.05}, {"coding": 2, "creative": 50}, 5)
    {'coding': 2, 'creative': 3}
    """
    kept = [name for name in shares if counts.get(name)][:limit]
    given, total = dict.fromkeys(kept, 1), sum(shares[name] for name in kept)
    while sum(given.values()) < limit and (open_ones := [name for name in kept if given[name] < counts[name]]):
        neediest = max(open_ones, key=lambda name: shares[name] / total * limit - given[name])
        given[neediest] += 1
    return given


def choose_apart(
    candidates: Sequence[Candidate], wave: Wave, shares: Mapping[str, float], limit: int
) -> list[Candidate]:
    """Return at most ``limit`` candidates, domain by domain in the order of ``shares``, each chosen by ``choose``."""
    groups = {name: [one for one in candidates if one.item.domain == name] for name in shares}
    given = places(shares, {name: len(group) for name, group in groups.items()}, limit)
    return [one for name, count in given.items() for one in choose(groups[name], wave, count)]


def in_groups(results: Sequence[Candidate], shares: Mapping[str, float]) -> list[Candidate]:
    """Return results domain by domain in the order of ``shares``, others last, else in their order.

    Unchanged without ``shares``.
    """
    order = {name: place for place, name in enumerate(shares)}
    return sorted(results, key=lambda one: order.get(one.item.domain, len(order))) if shares else list(results)
