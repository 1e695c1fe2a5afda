"""JSON that is given on a command line."""

from __future__ import annotations

import json
from typing import Any

from vicw_runtime.console import fail


def read_object(text: str, what: str) -> dict[str, Any]:
    """Return a JSON object. Ends the command with the code 2 if it is none; ``what`` names it."""
    try:
        value = json.loads(text)
    except ValueError as error:
        fail(f"{what}: no JSON: {error}", code=2)
    if not isinstance(value, dict):
        fail(f"{what}: no JSON object", code=2)
    return value
