"""The answer of ``POST /admin/NAME``: lines of JSON, progress and items first, the result or a problem last."""

from __future__ import annotations

from pydantic import Field

from vicw_shared.wire.base import Message, StrictInt
from vicw_shared.wire.problem import Problem

MEDIA_TYPE = "application/jsonl"


class OperationProgress(Message):
    """``done`` of ``total`` (0: unknown) are through ``step``."""

    step: str
    done: StrictInt
    total: StrictInt


class OperationLine[I: Message, R: Message](Message):
    """A line holds one of these fields. An empty line only says that the operation still runs."""

    progress: OperationProgress | None = None
    item: I | None = None
    result: R | None = Field(None, description="The last line of an operation that has succeeded")
    problem: Problem | None = Field(None, description="The last line of an operation that has failed")
