"""Cron schedules of jobs, in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from celery.schedules import ParseException, crontab

from vicw_shared.errors import SettingsError

NEVER = "never"


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
        self._cron: crontab | None = None
        self._now = self._last = began.astimezone(UTC)
        if expression.strip().lower() == NEVER:
            return
        try:
            minute, hour, day, month, weekday = expression.split()
            self._cron = crontab(minute, hour, weekday, day, month, nowfun=lambda: self._now)
        except (ParseException, ValueError) as error:
            raise SettingsError(
                f"{setting}={expression!r} is not a schedule ({error}). Write the five fields of cron, "
                f"such as '0 3 * * *' for 3:00 UTC every day, or '{NEVER}'"
            ) from error

    def due(self, now: datetime) -> bool:
        """Return whether the job is due; it is then not due again until the next time."""
        remaining = self.rest(now)
        if remaining is None or remaining > timedelta(0):
            return False
        self._last = self._now
        return True

    def rest(self, now: datetime) -> timedelta | None:
        """Return the time until the job is due, at least 0; None: never."""
        if self._cron is None:
            return None
        self._now = now.astimezone(UTC)
        self._last = min(self._last, self._now)
        due, seconds = self._cron.is_due(self._last)
        return timedelta(0) if due else timedelta(seconds=seconds)
