"""The metrics of a ranked list against its evidence. Pure: lists in, numbers out."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from vicw_shared.domains import canonical


@dataclass(frozen=True, slots=True)
class Answered:
    """One question's outcome: the ids of the results in order, the evidence, milliseconds, and the domains.

    ``domains`` are those of the results in order, ``domain`` that of the question, both as they were given;
    ``narrowed_to`` is the domain that the memory narrowed the search to by itself. ``degraded`` tells that a part of
    the memory failed or ran out of time, so that the answer says little of what it can find; ``sure``, that it took
    the question for one of a task; ``apart``, that it called the question ambiguous and kept the domains apart.
    """

    category: str
    found: tuple[str, ...]
    relevant: frozenset[str]
    ms: float
    domain: str | None = None
    domains: tuple[str, ...] = ()
    narrowed_to: str | None = None
    degraded: bool = False
    sure: bool = False
    apart: bool = False
    context: str | None = None


@dataclass(frozen=True, slots=True)
class Scores:
    """Means over the questions, each in [0, 1], higher is better, NaN without questions; times in ms.

    ``degraded`` counts the questions that were not answered by all of the memory.
    """

    questions: int
    recall_at_5: float
    recall_at_10: float
    all_at_5: float
    all_at_10: float
    mrr: float
    p50_ms: float
    p95_ms: float
    degraded: int
    deviation_at_10: float
    """The standard deviation of R@10 over the contexts, each the mean of its questions; NaN if there are not two."""


def recall_at(k: int, found: Sequence[str], relevant: Collection[str]) -> float:
    """Return the share of ``relevant`` (not empty) among the first ``k`` of ``found``.

    >>> recall_at(2, ["a", "x", "b"], {"a", "b"})
    0.5
    """
    return len(set(found[:k]) & set(relevant)) / len(relevant)


def reciprocal_rank(found: Sequence[str], relevant: Collection[str]) -> float:
    """Return 1 ÷ the rank of the first relevant result, 0 if there is none.

    >>> reciprocal_rank(["x", "a"], {"a"})
    0.5
    """
    return next((1 / rank for rank, one in enumerate(found, 1) if one in relevant), 0.0)


def percentile(values: Iterable[float], share: float) -> float:
    """Return the smallest value that at least ``share`` of them do not exceed (nearest rank); NaN for none.

    >>> percentile([4, 1, 3, 2], 0.5)
    2
    """
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan


def score(answers: Sequence[Answered]) -> Scores:
    """Return the means over ``answers``."""

    def mean(value: Callable[[Answered], float]) -> float:
        return fmean(map(value, answers)) if answers else math.nan

    return Scores(
        questions=len(answers),
        recall_at_5=mean(lambda a: recall_at(5, a.found, a.relevant)),
        recall_at_10=mean(lambda a: recall_at(10, a.found, a.relevant)),
        all_at_5=mean(lambda a: float(a.relevant <= set(a.found[:5]))),
        all_at_10=mean(lambda a: float(a.relevant <= set(a.found[:10]))),
        mrr=mean(lambda a: reciprocal_rank(a.found, a.relevant)),
        p50_ms=percentile((a.ms for a in answers), 0.5),
        p95_ms=percentile((a.ms for a in answers), 0.95),
        degraded=sum(a.degraded for a in answers),
        deviation_at_10=_deviation(answers),
    )


def _deviation(answers: Sequence[Answered]) -> float:
    by_context: dict[str | None, list[float]] = {}
    for answer in answers:
        by_context.setdefault(answer.context, []).append(recall_at(10, answer.found, answer.relevant))
    return stdev(map(fmean, by_context.values())) if len(by_context) > 1 else math.nan


def by_category(answers: Sequence[Answered]) -> dict[str, Scores]:
    """Return the scores of each category, by name."""
    return {name: score([a for a in answers if a.category == name]) for name in sorted({a.category for a in answers})}


def foreign_slots(answers: Iterable[Answered], k: int = 10) -> tuple[int, int]:
    """Return how many of the first ``k`` result slots hold another domain than their question's, and all slots.

    Domains are compared by their canonical names; a question without a domain does not count, and neither do the slots
    of an answer that keeps its domains ``apart``.

    >>> foreign_slots([Answered("", ("a", "b"), frozenset("a"), 1.0, "code", ("coding", "prose"))])
    (1, 2)
    """
    foreign = total = 0
    for answer in answers:
        if answer.domain is None:
            continue
        own = canonical(answer.domain)
        slots = [canonical(domain) for domain in answer.domains[:k]]
        total += len(slots)
        foreign += sum(domain != own for domain in slots) if not answer.apart else 0
    return foreign, total


def narrowings(answers: Iterable[Answered]) -> tuple[int, int]:
    """Return how many questions were narrowed to a domain, and how many of them to another than their own.

    >>> narrowings([Answered("", (), frozenset("a"), 1.0, "code", narrowed_to="creative")])
    (1, 1)
    """
    narrowed = [(a.domain, a.narrowed_to) for a in answers if a.domain is not None and a.narrowed_to is not None]
    return len(narrowed), sum(canonical(own) != canonical(to) for own, to in narrowed if own and to)
