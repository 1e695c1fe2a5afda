"""JSON that is given on a command line, and the option of a filter."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vicw_runtime.console import fail

if TYPE_CHECKING:
    from vicw_shared.wire.filters import Filter

FilterOption = Annotated[
    str | None,
    typer.Option(
        "--filter",
        help='Only items that pass a filter, as JSON: \'{"metadata.house": {"gte": 3}}\'.',
        metavar="JSON",
    ),
]


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
