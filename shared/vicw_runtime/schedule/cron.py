"""Cron schedules of jobs, in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from itertools import product

from vicw_shared.errors import SettingsError

NEVER = "never"
_MONTHS = ("", *"jan feb mar apr may jun jul aug sep oct nov dec".split())
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_LONGEST_DAYS = 41 * 366
"""A Friday that is 29 February may be 40 years away, where a year such as 2100 has none."""


class _Expression:
    """Five fields of cron: numbers, three-letter names, ranges ``a-b``, steps ``/n``, lists ``a,b``, and ``*``.

    Both the day and the weekday must match. Raises ValueError with the reason.
    """

    def __init__(self, expression: str) -> None:
        fields = expression.split()
        if len(fields) != 5:
            raise ValueError(f"it has {len(fields)} fields")
        minutes, hours = _read(fields[0], 0, 59), _read(fields[1], 0, 23)
        self._times = [time(hour, minute) for hour, minute in product(sorted(hours), sorted(minutes))]
        self._days = _read(fields[2], 1, 31)
        self._months = _read(fields[3], 1, 12, _MONTHS)
        self._weekdays = _read(fields[4], 0, 6, _WEEKDAYS)

    def next_after(self, moment: datetime) -> datetime:
        """Return the first time after ``moment``, which is in UTC."""
        for days in range(_LONGEST_DAYS):
            date = moment.date() + timedelta(days=days)
            if date.month not in self._months or date.day not in self._days:
                continue
            if date.isoweekday() % 7 not in self._weekdays:
                continue
            for clock in self._times:
                found = datetime.combine(date, clock, UTC)
                if found > moment:
                    return found
        raise ValueError("there is no such day")


def _read(field: str, least: int, most: int, names: tuple[str, ...] = ()) -> frozenset[int]:
    """Return the values of a field. A range may pass the end: ``fri-mon``."""

    def number(text: str) -> int:
        value = names.index(text[:3].lower()) if text[:3].lower() in names else int(text)
        if not least <= value <= most:
            raise ValueError(f"{text} is not within {least} to {most}")
        return value

    found: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        first, _, last = ("", "", "") if span == "*" else span.partition("-")
        begin = number(first) if span != "*" else least
        end = number(last) if last else most if span == "*" or step else begin
        if step and int(step) < 1:
            raise ValueError(f"{part} has no step")
        values = [*range(begin, end + 1)] if begin <= end else [*range(begin, most + 1), *range(least, end + 1)]
        found.update(values[:: int(step or 1)])
    return frozenset(found)


class Schedule:
    """A schedule that begins at an instant; earlier due times are not made up for.

    A clock put back does not delay it; a clock put forward makes it due once.
    """

    poll_seconds = 20.0
    """Interval at which the schedule is checked."""
    pause_seconds = 1.0
    """Pause between two slices of a job: foreground requests run first."""

    def __init__(self, setting: str, expression: str, began: datetime) -> None:
        """Parse an ``expression``. Raises SettingsError that names the ``setting``."""
        self._last = began.astimezone(UTC)
        self._due: datetime | None = None
        self._demanded = False
        self._expression: _Expression | None = None
        if expression.strip().lower() == NEVER:
            return
        try:
            self._expression = _Expression(expression)
            self._due = self._expression.next_after(self._last)
        except ValueError as error:
            raise SettingsError(
                f"{setting}={expression!r} is not a schedule ({error}). Write the five fields of cron, "
                f"such as '0 3 * * *' for 3:00 UTC every day, or '{NEVER}'"
            ) from error

    def demand(self) -> None:
        """Make the job due once, whatever the time, even if it has none."""
        self._demanded = True

    def due(self, now: datetime) -> bool:
        """Return whether the job is due; it is then not due again until the next time."""
        demanded, self._demanded = self._demanded, False
        remaining = self.rest(now)
        if remaining is None or remaining > timedelta(0):
            return demanded
        self._begin(now.astimezone(UTC))  # one run is enough for a demand and the regular time
        return True

    def rest(self, now: datetime) -> timedelta | None:
        """Return the time until the job is due, at least 0; None: never."""
        if self._demanded:
            return timedelta(0)
        if self._due is None:
            return None
        moment = now.astimezone(UTC)
        if moment < self._last:
            self._begin(moment)
        return max(self._due - moment, timedelta(0))

    def _begin(self, moment: datetime) -> None:
        """Count from this moment on."""
        self._last = moment
        if self._expression is not None:
            self._due = self._expression.next_after(moment)
