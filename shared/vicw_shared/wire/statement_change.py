"""What was told earlier or later of the same as a result, in an answer."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from vicw_shared.wire.base import Message, Timestamp


class StatementChange(Message):
    """A statement beside a result, by its place in time. Neither hides the other.

    ``earlier``: it answers the question as the result does, was told before it, and had no place among the results.
    ``corrects``: the result says that it was wrong; ``corrected_by``: it says so of the result.
    """

    relation: Literal["earlier", "corrects", "corrected_by"]
    uid: str
    id: str | None = Field(description="Your id")
    timestamp: Timestamp
    text: str
