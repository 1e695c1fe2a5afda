"""Time factors of items for the time of a question: pure functions from times to factors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Self

from vicw_retrieval.temporal.event_references import EventReference, ReferenceSide
from vicw_retrieval.temporal.query_analyzer import TimeAnalysis
from vicw_retrieval.temporal.spans import SpanRelation, TimeSpan
from vicw_shared.clock import to_us
from vicw_shared.model import Node
from vicw_shared.model.stated_times import Interval

BOOST = 0.5
"""Gain at full confidence and nearness, as a share of the score."""
SURE = 0.5
"""Minimum confidence of a span that names a time."""
_DAY = timedelta(days=1)
_PART, _INTO_PART = timedelta(hours=20), timedelta(hours=3)
"""Less than this is a part of a day: some days have 23 hours."""
_HALVES_STEPS = 4
_HALVES_AFTER = timedelta(hours=1)


class TimeFit(StrEnum):
    """Relation of an item to the time of a question."""

    INSIDE = "inside"
    OUTSIDE = "outside"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Moment:
    """When an item was told, on its context's clock (timestamp, arrival) and in its flow, and when it happened.

    ``stated`` are the times that its statements give. ``is_told``: it is of the time of its telling, too, since one of
    its statements gives no time, or it has none.
    """

    at: datetime | None = None
    context: str = ""
    arrival: int | None = None
    flow_id: str | None = None
    flow_step: int | None = None
    own_step: int | None = None
    stated: tuple[Interval, ...] = ()
    is_told: bool = True

    @property
    def times(self) -> tuple[Interval, ...]:
        """All times of the item, as [start, end); that of its telling is empty."""
        return (*self.stated, (self.at, self.at)) if self.at is not None and self.is_told else self.stated

    @classmethod
    def of(cls, node: Node) -> Self:
        """Return an item's moment."""
        return cls(node.timestamp, node.context, node.arrival, node.flow_id, node.flow_step, node.own_step)


@dataclass(frozen=True, slots=True)
class Weight:
    """Factor on an item's score: 1 to 1 + ``boost``.

    ``named`` is the confidence of the named time that the item is of, 0 if it is of none.
    """

    fit: TimeFit
    factor: float
    named: float = 0.0


def weigh(
    reading: TimeAnalysis,
    moments: Sequence[Moment],
    events: Mapping[EventReference, Moment] | None = None,
    *,
    boost: float = BOOST,
) -> list[Weight]:
    """Return each item's weight, in their order; ``events`` are the anchors that a search found.

    The rule: time orders and hides nothing. Inside, a score is multiplied by 1 + ``boost`` x confidence x nearness;
    outside and unknown it stays as it is, since items may lack a time, and words may mislead. What is inside a time
    that the question names (a day, March, last week) is marked: ``time_ranker`` lifts it.

    An item is inside if one of its times is inside every before and after, and inside one of the other spans, if any,
    and comes at the recurring hours or days. A stated time is inside a span if its middle is, unless it is more than
    twice as long: "in March" is not of March 16, but a day of another time zone is the same day. Nearness is 1
    inside a span. For an event it halves with every 4 steps away along its flow, and every hour on the clock of its
    context in another flow; other contexts' clocks are not compared. With spans and events an item's factors multiply,
    to 1 + ``boost`` at most; it is outside if either says so.
    """
    events = events or {}
    return [_weight(reading, moment, events, boost) for moment in moments]


def _weight(reading: TimeAnalysis, moment: Moment, events: Mapping[EventReference, Moment], boost: float) -> Weight:
    judged = [_in_spans(reading, moment)] if reading.spans or reading.recurrence else []
    named = judged[0][1] if judged and (named_spans(reading) or reading.recurrence) and judged[0][1] >= SURE else 0.0
    judged += [_by_event(anchor, events[anchor], moment) for anchor in reading.event_references if anchor in events]
    fits = [fit for fit, _ in judged]
    if TimeFit.OUTSIDE in fits:
        fit = TimeFit.OUTSIDE
    elif TimeFit.INSIDE in fits:
        fit = TimeFit.INSIDE
    else:
        fit = TimeFit.UNKNOWN
    if fit is not TimeFit.INSIDE:
        return Weight(fit, 1.0)
    factor = 1.0
    for _, share in judged:
        factor *= 1 + boost * share
    return Weight(fit, min(factor, 1 + boost), named)


def named_spans(reading: TimeAnalysis) -> tuple[TimeSpan, ...]:
    """Return the sure spans with two ends: "since Monday" names no time of its own, unless nothing else selects."""
    closed = {SpanRelation.ON, SpanRelation.AROUND}
    return tuple(s for s in reading.spans if s.confidence >= SURE and (reading.alone or s.kind in closed))


def _in_spans(reading: TimeAnalysis, moment: Moment) -> tuple[TimeFit, float]:
    """Return the relation of an item to the spans, and the confidence of those that it is in."""
    if not moment.times:
        return TimeFit.UNKNOWN, 0.0
    confidence = max(confidence_of(reading, time) for time in moment.times)
    return (TimeFit.INSIDE, confidence) if confidence else (TimeFit.OUTSIDE, 0.0)


_EVERY = 0.9
"""Confidence of recurring days and hours."""


def confidence_of(reading: TimeAnalysis, time: Interval) -> float:
    """Return the confidence of the spans that a time is in; 0 outside."""
    bounds = [span for span in reading.spans if span.kind in {SpanRelation.BEFORE, SpanRelation.AFTER}]
    others = [span for span in reading.spans if span not in bounds]
    inside = [span for span in others if lies_in(time, (span.start, span.end))]
    every = reading.recurrence
    if every is not None and not (every.includes(middle(time)) and (every.since is None or _length(time) < _DAY)):
        return 0.0
    if not all(span.start <= middle(time) < span.end for span in bounds) or (others and not inside):
        return 0.0
    return max((span.confidence for span in inside or bounds), default=_EVERY)


def lies_in(time: Interval, span: Interval) -> bool:
    """Return whether a time is of a span: its middle is in it, and it is not more than twice as long."""
    return span[0] <= middle(time) < span[1] and _length(time) <= 2 * (span[1] - span[0])


def middle(time: Interval) -> datetime:
    """Return the instant in the middle; of a part of a day at most three hours in: a night is of the day before it."""
    half = _length(time) / 2
    return time[0] + (min(half, _INTO_PART) if half < _PART / 2 else half)


def _length(time: Interval) -> timedelta:
    return time[1] - time[0]


def _by_event(anchor: EventReference, event: Moment, moment: Moment) -> tuple[TimeFit, float]:
    """Return the relation of an item to an event, and confidence times nearness."""
    if moment == event:  # the event's own text often says what followed
        return TimeFit.INSIDE, anchor.confidence
    order = _order(event, moment)
    if order is None:
        return TimeFit.UNKNOWN, 0.0
    if anchor.direction is not ReferenceSide.DURING and (order > 0) != (anchor.direction is ReferenceSide.AFTER):
        return TimeFit.OUTSIDE, 0.0
    return TimeFit.INSIDE, anchor.confidence * _nearness(event, moment)


def _order(event: Moment, moment: Moment) -> int | None:
    """Return 1 if a moment is after an event, -1 if before, by their common flow, else by the clock; None: neither."""
    if event.context != moment.context or event.at is None or moment.at is None:
        return None
    if _same_flow(event, moment):
        ours, theirs = _flow_key(moment), _flow_key(event)
    else:
        ours, theirs = _clock_key(moment), _clock_key(event)
    return (ours > theirs) - (ours < theirs) or None


def _same_flow(event: Moment, moment: Moment) -> bool:
    return (
        event.flow_id is not None
        and (event.context, event.flow_id) == (moment.context, moment.flow_id)
        and None not in (event.flow_step, moment.flow_step)
    )


def _flow_key(moment: Moment) -> tuple[int, ...]:
    """Return the order of NEXT (``model.chain.next_key``)."""
    assert moment.at is not None
    return (int(moment.own_step is None), moment.own_step or 0, to_us(moment.at), moment.flow_step or 0)


def _clock_key(moment: Moment) -> tuple[int, ...]:
    """Return the order of HAPPENED_AFTER (``model.chain.clock_key``)."""
    assert moment.at is not None
    return (to_us(moment.at), moment.arrival or 0)


def _nearness(event: Moment, moment: Moment) -> float:
    """Return how near two moments are, in (0, 1]: 1 for neighbours."""
    if _same_flow(event, moment):
        steps = abs((moment.flow_step or 0) - (event.flow_step or 0))
        return float(0.5 ** (max(0, steps - 1) / _HALVES_STEPS))
    assert event.at is not None
    assert moment.at is not None
    return float(0.5 ** min(abs(moment.at - event.at) / _HALVES_AFTER, 1000.0))
