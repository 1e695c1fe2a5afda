"""The answer of ``POST /admin/NAME``: lines of JSON, progress and items first, the result or a problem last."""

from __future__ import annotations

from typing import get_args

from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

from vicw_shared.wire.base import Message, StrictInt
from vicw_shared.wire.problem import Problem

MEDIA_TYPE = "application/jsonl"


class OperationProgress(Message):
    """``done`` of ``total`` (0: unknown) are through ``step``."""

    step: str
    done: StrictInt
    total: StrictInt


def _show_lines(schema: JsonDict, line: type[BaseModel]) -> None:
    """Give the schema the lines of an answer as examples: an item, if there are any, and the result."""
    lines: list[JsonDict] = []
    for name in ("item", "result"):
        message, *_ = get_args(line.model_fields[name].annotation)
        shown = message.model_config.get("json_schema_extra", {}).get("examples", ())
        lines += [{name: each} for each in shown]
    schema["examples"] = [*lines]


class OperationLine[I: Message, R: Message](Message):
    """A line holds one of these fields. An empty line only says that the operation still runs."""

    model_config = ConfigDict(json_schema_extra=_show_lines)

    progress: OperationProgress | None = None
    item: I | None = None
    result: R | None = Field(None, description="The last line of an operation that has succeeded")
    problem: Problem | None = Field(None, description="The last line of an operation that has failed")
