"""A clock that stands still until it is moved."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

START = datetime(2025, 6, 1, 8, tzinfo=UTC)


class Clock:
    """The time of day; ``at`` is None once it is the real one."""

    def __init__(self) -> None:
        self.at: datetime | None = START

    def __call__(self) -> datetime:
        return self.at if self.at is not None else datetime.now(UTC)

    def move(self, **by: float) -> None:
        assert self.at is not None
        self.at += timedelta(**by)
