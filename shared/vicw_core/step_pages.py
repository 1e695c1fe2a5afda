"""Places in the log of steps, as the cursor of a page."""

from __future__ import annotations

import base64
import binascii
from dataclasses import replace
from datetime import datetime

from vicw_shared.clock import from_us, to_us
from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.ports import MaintenanceStep, Outcome


def place_before(at: datetime) -> MaintenanceStep:
    """Return the place in the log right behind all steps of ``at`` or later."""
    return MaintenanceStep(id="", tenant="", context="", task="", outcome=Outcome.DONE, at=at, subject="")


def cursor_of(step: MaintenanceStep) -> str:
    """Return the cursor of the page behind a step."""
    return base64.urlsafe_b64encode(f"{to_us(step.at)}:{step.id}".encode()).decode()


def place_of(cursor: str | None) -> MaintenanceStep | None:
    """Return the place that a cursor names; None: the beginning. Raises InvalidInputError for any other text."""
    if cursor is None:
        return None
    try:
        at, _, step_id = base64.urlsafe_b64decode(cursor).decode("ascii").partition(":")
        return replace(place_before(from_us(int(at))), id=step_id)
    except (ValueError, OverflowError, binascii.Error) as error:
        raise InvalidInputError(
            FieldProblem("after", "is no place of a page", "Send `next` of the page before, or leave it out")
        ) from error
