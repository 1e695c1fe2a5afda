"""Times that come again: on Mondays, at weekends, every day between 2pm and 4pm."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time, tzinfo


@dataclass(frozen=True, slots=True)
class Recurrence:
    """Days of the week, hours of the day, or both, on the clock of the asker's zone.

    ``weekdays`` are numbers, Monday is 0; none means every day. The hours are [``since``, ``until``), over midnight if
    ``until`` is not later; none means the whole day.
    """

    zone: tzinfo
    weekdays: frozenset[int] = frozenset()
    since: time | None = None
    until: time | None = None
    text: str = ""
    begins: int = 0
    """Position of ``text`` in the question."""

    def includes(self, at: datetime) -> bool:
        """Return whether an instant is one of these times; one without a zone is taken as UTC."""
        try:
            local = (at if at.tzinfo is not None else at.replace(tzinfo=UTC)).astimezone(self.zone)
        except OverflowError:
            return False
        if self.weekdays and local.weekday() not in self.weekdays:
            return False
        hour, since, until = local.time(), self.since or time.min, self.until or time.min
        if since < until:
            return since <= hour < until
        return hour >= since or hour < until
