"""The time that a question names, in the answer, and the line that says that nothing is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, time, timedelta, tzinfo

from vicw_retrieval.temporal.nearest import NearItem
from vicw_retrieval.temporal.spans import BEGINNING, END
from vicw_retrieval.temporal.time_ranker import ResolvedTime
from vicw_shared.clock import format_minute, in_zone
from vicw_shared.text import one_fact
from vicw_shared.wire.answer_format import NOTHING_OF
from vicw_shared.wire.named_time import NamedTime, NearestItem
from vicw_shared.wire.retrieve import Result

_MIDNIGHT = time()
_INSTANT = timedelta(microseconds=1)


def to_named_time(resolved: ResolvedTime | None, results: Sequence[Result]) -> NamedTime | None:
    """Return what the answer says of the time that the question names; None if it names none."""
    if resolved is None or not resolved.spans:
        return None
    spans, nearest = resolved.spans, resolved.nearest
    start, end = min(span.start for span in spans), max(span.end for span in spans)
    return NamedTime(
        text=" … ".join(dict.fromkeys(span.text for span in spans)),
        start=start if start > BEGINNING else None,
        end=end if end < END else None,
        items=tuple(result.uid for result in results if result.uid in resolved.inside),
        nothing=nearest is not None,
        before=_to_nearest(nearest.before) if nearest is not None else None,
        after=_to_nearest(nearest.after) if nearest is not None else None,
    )


def _to_nearest(item: NearItem | None) -> NearestItem | None:
    return NearestItem(uid=item.node.uid, id=item.node.source_id, at=item.at) if item is not None else None


def nothing_line(named: NamedTime | None, zone: tzinfo) -> str:
    """Return the line that says that nothing is known of the named time, and what is nearest; "" if something is."""
    if named is None or not named.nothing:
        return ""
    near = [
        f"{side} it: {_moment(item.at, zone)}{f' (id {one_fact(item.id)})' if item.id else ''}"
        for side, item in (("before", named.before), ("after", named.after))
        if item is not None
    ]
    return f"{NOTHING_OF}{_span(named, zone)}." + (f" Nearest {', '.join(near)}." if near else "")


def _span(named: NamedTime, zone: tzinfo) -> str:
    """Return a span as readable text: days where it begins and ends at midnight."""
    start = in_zone(named.start, zone) if named.start is not None else None
    end = in_zone(named.end, zone) if named.end is not None else None
    if any(at is not None and at.time() != _MIDNIGHT for at in (start, end)):
        first, last = (format_minute(at, zone) for at in (named.start, named.end))
    else:
        first = _day(start) if start is not None else ""
        last = _day(end - _INSTANT) if end is not None else ""
    if first == last:
        return first
    return f"{first} to {last}" if first and last else f"the time since {first}" if first else f"the time before {last}"


def _moment(at: datetime, zone: tzinfo) -> str:
    local = in_zone(at, zone)
    for day in (local, at):  # a day of the asker's zone, or of that of whoever told of it by UTC
        if day.time() == _MIDNIGHT:
            return _day(day)
    return format_minute(local, zone)


def _day(at: datetime) -> str:
    return f"{at:%Y-%m-%d}"
