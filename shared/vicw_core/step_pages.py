"""Pages of the log of steps: the places where they begin, and their cursors."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from vicw_core.page_cursor import no_cursor, read_cursor, write_cursor
from vicw_shared.clock import from_us, to_us
from vicw_shared.ports import MaintenanceStep, Outcome


def place_before(at: datetime) -> MaintenanceStep:
    """Return the place in the log right behind all steps of ``at`` or later."""
    return MaintenanceStep(id="", tenant="", context="", task="", outcome=Outcome.DONE, at=at, subject="")


def cursor_of(step: MaintenanceStep, fingerprint: str) -> str:
    """Return the cursor of the page behind a step, for a request with this fingerprint."""
    return write_cursor((to_us(step.at), step.id), fingerprint)


def place_of(cursor: str | None, fingerprint: str) -> MaintenanceStep | None:
    """Return the place that a cursor names; None: the beginning.

    Raises InvalidInputError on ``after`` for a cursor of another request, and for what is none.
    """
    if cursor is None:
        return None
    at, step_id = read_cursor(cursor, fingerprint, 2, "after")
    try:
        return replace(place_before(from_us(int(str(at)))), id=str(step_id))
    except (ValueError, OverflowError):
        raise no_cursor("after") from None
