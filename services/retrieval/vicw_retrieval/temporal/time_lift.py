"""Order of the candidates by a time that a question names: the lift of what is of it, and first and last."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime

from vicw_retrieval.ranking.fusion import Candidate, in_order
from vicw_retrieval.temporal.order import OrderEnd
from vicw_retrieval.temporal.query_analyzer import TimeAnalysis
from vicw_retrieval.temporal.spans import END
from vicw_retrieval.temporal.time_weights import SURE, Moment, Weight, confidence_of, middle

MIN_STRENGTH = 0.5
"""Minimum strength for a gain by time, as a share of the best, whatever the channels found."""
SURE_ORDER = 0.95
"""Confidence of an order over time, and the highest that counts for the odds."""
PAGE, PLACES = 10, 3
"""The first page of results, and how many of its places are those of the best by words alone."""
LATER = 1e-4
"""Decrease of that minimum from each item to the next: it settles ties."""


def lift_named(
    ranked: Sequence[Candidate], named: Mapping[str, Weight], share: tuple[int, int], scale: float, *, alone: bool
) -> list[Candidate]:
    """Return the candidates, those of a named time raised by its odds.

    Scores count as log odds (``fusion.squash``). That an item is of the time changes them by its likelihood ratio:
    log(c / (1 - c)) + log((1 - p) / p), c being the confidence of the time, and p the ``share`` of what the channels
    found that is of it, so a day weighs more than a year. If nothing else selects, items of the time come before all
    others.
    """
    of_time, found = share
    p = (of_time + 1) / (found + 2)
    rarity = math.log((1 - p) / p)
    outside = max((one.score for one in ranked if one.key not in named), default=0.0)
    lowest = min((one.score for one in ranked if one.key in named), default=0.0)
    least = outside - lowest + LATER if alone else 0.0

    def lift(one: Candidate) -> float:
        c = min(named[one.key].named, SURE_ORDER)
        return max(scale * (math.log(c / (1 - c)) + rarity), least, 0.0)

    return [one.raised(time=lift(one)) if one.key in named else one for one in ranked]


def in_time_order(
    ranked: Sequence[Candidate],
    named: Mapping[str, Weight],
    moments: Mapping[str, Moment],
    reading: TimeAnalysis,
    boost: float,
) -> list[Candidate]:
    """Return the candidates; if the question asks for the first or the last, those come first.

    If nothing else selects, time alone orders those of the named time. Otherwise the first gains ``boost`` of the best
    score, the others less, of those that are about as good.
    """
    if reading.order is None:
        return list(ranked)
    best = max((one.score for one in ranked), default=0.0)
    enough = -math.inf if named and reading.by_time else max(MIN_STRENGTH * best, LATER)
    pool = [one for one in ranked if one.score >= enough and (not named or one.key in named)]
    by_time = sorted(pool, key=lambda one: _place_in_time(moments[one.key], reading))
    if reading.order.end is OrderEnd.LAST:
        by_time.reverse()
    if named and reading.by_time:
        gains = {one.key: best - one.score + LATER * (len(pool) - place) for place, one in enumerate(by_time)}
    else:
        gains = {one.key: boost * best * (1 - place / len(pool)) for place, one in enumerate(by_time)}
    return [one.raised(time=gains[one.key]) if one.key in gains else one for one in ranked]


def _place_in_time(moment: Moment, reading: TimeAnalysis) -> tuple[bool, datetime]:
    """Return the place of an item in an order over time: whether it was only announced, and when it was.

    Of its times in the question's spans the one at the end asked for; the end of time if unknown. What was announced
    is neither the first nor the last that happened, unless the question is about what is to come. A stated time that
    is told while it goes on ("this morning", at 9:05) had come by then: its middle would be before what was told
    earlier on that morning.
    """
    inside = [time for time in moment.times if not reading.spans or confidence_of(reading, time)]
    instants = [
        moment.at if moment.at is not None and start <= moment.at < end else middle((start, end))
        for start, end in inside or moment.times
    ]
    is_last = reading.order is not None and reading.order.end is OrderEnd.LAST
    over = [at for at in instants if moment.at is None or at <= moment.at]
    announced = not over and not reading.ahead
    return announced is not is_last, (max if is_last else min)(over or instants, default=END)


def keep_places(ranked: Sequence[Candidate], by_words: Sequence[Candidate], limit: int) -> list[Candidate]:
    """Return the candidates, best first, the best by words on the first page whatever time the question names.

    Of the first ten places the last three are theirs: a wrong day or year annotates, and loses nothing.
    """
    page = min(limit, PAGE)
    own = page * PLACES // PAGE
    if own == 0 or len(ranked) <= page:
        return list(ranked)
    first = list(ranked[: page - own])
    keys = {one.key for one in first}
    best = [one.key for one in by_words if one.key not in keys][:own]
    rest = [one for one in ranked if one.key not in keys]
    kept = [one for one in rest if one.key in best]
    low = first[-1].score
    for place, one in enumerate(kept, start=1):
        first.append(one.raised(time=max(0.0, low - LATER * place - one.score)))
    return in_order([*first, *(one for one in rest if one.key not in best)])


def misleading_last(
    ranked: Sequence[Candidate], named: Mapping[str, Weight], moments: Mapping[str, Moment], reading: TimeAnalysis
) -> list[Candidate]:
    """Return the candidates, last those that were told at the named time, but tell of another."""

    def misleads(one: Candidate) -> bool:
        at = moments[one.key].at
        return bool(named) and one.key not in named and at is not None and confidence_of(reading, (at, at)) >= SURE

    lowest = min((one.score for one in ranked), default=0.0)
    return [one.raised(time=lowest - one.score - LATER) if misleads(one) else one for one in ranked]
