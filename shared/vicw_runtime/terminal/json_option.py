"""JSON that is given on a command line or printed, and the options for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vicw_runtime.console import fail

if TYPE_CHECKING:
    from pydantic import BaseModel

    from vicw_shared.wire.filters import Filter

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
FilterOption = Annotated[
    str | None,
    typer.Option(
        "--filter",
        help='Only items that pass a filter, as JSON: \'{"metadata.house": {"gte": 3}}\'.',
        metavar="JSON",
    ),
]


def print_json(answer: BaseModel, more: Mapping[str, Any] = MappingProxyType({})) -> None:
    """Print a message as a JSON object, with ``more`` fields, which may hold lists of messages."""
    fields = answer.model_dump(mode="json") | {
        name: [one.model_dump(mode="json") for one in value] if isinstance(value, list) else value
        for name, value in more.items()
    }
    print(json.dumps(fields, indent=2, ensure_ascii=False))


def read_object(text: str, what: str) -> dict[str, Any]:
    """Return a JSON object. Ends the command with the code 2 if it is none; ``what`` names it."""
    try:
        value = json.loads(text)
    except ValueError as error:
        fail(f"{what}: no JSON: {error}", code=2)
    if not isinstance(value, dict):
        fail(f"{what}: no JSON object", code=2)
    return value


def read_filter(text: str | None) -> Filter | None:
    """Return the filter of the option, None without it. Ends the command with the code 2 if it is none."""
    if text is None:
        return None
    from pydantic import ValidationError

    from vicw_shared.wire.filters import Filter
    from vicw_shared.wire.validation_errors import describe

    try:
        return Filter.model_validate(read_object(text, "--filter"))
    except ValidationError as error:
        first = describe(error.errors(), "--filter")[0]
        fail(f"--filter: {first.field}: {first.problem}. {first.fix}", code=2)
