"""A tool of the SDK that names unknown arguments and expected errors, and whose schema is short."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import ToolAnnotations
from pydantic import ValidationError

from vicw_shared.errors import InvalidInputError, VicwError
from vicw_shared.wire.validation_errors import describe

_ITEM = "items[0]."
"""Beginning of the fields of the one item that a tool stores."""


class StrictTool(Tool):
    """The SDK ignores unknown arguments, and hides the text of errors that are not its own from the model."""

    @classmethod
    def of(cls, fn: Callable[..., Any], annotations: ToolAnnotations) -> StrictTool:
        """Return the tool of a function; its docstring, in one line, is the description."""
        description = " ".join((fn.__doc__ or "").split())
        tool = cls.from_function(fn, description=description, annotations=annotations)
        tool.parameters = shortened(tool.parameters) | {"additionalProperties": False}
        if tool.fn_metadata.output_schema is not None:
            tool.fn_metadata.output_schema = shortened(_undescribed(tool.fn_metadata.output_schema))
        assert isinstance(tool, StrictTool)
        return tool

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:
        """Call the function. Raises ToolError with what was wrong and how to correct it."""
        known = self.parameters["properties"]
        if unknown := sorted(arguments.keys() - known.keys()):
            problem = f"{', '.join(map(repr, unknown))}: no argument of {self.name}"
            raise ToolError(f"{problem}. It takes {', '.join(known) or 'none'}")
        try:
            return await super().run(arguments, context, convert_result)
        except ToolError as error:
            if isinstance(error.__cause__, VicwError | ValidationError):
                raise ToolError(error_text(error.__cause__)) from error
            raise


def _undescribed(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema without the descriptions of its objects: they are for readers of this code."""
    inner = {name: _undescribed(one) for name, one in schema.get("$defs", {}).items()}
    return {key: value for key, value in schema.items() if key != "description"} | ({"$defs": inner} if inner else {})


def error_text(error: VicwError | ValidationError) -> str:
    """Return an expected error as a sentence that names the argument and the fix."""
    if isinstance(error, ValidationError):
        error = InvalidInputError(*describe(error.errors(), root="arguments"))
    return error.detail.replace(_ITEM, "")


def shortened(schema: Any) -> Any:
    """Return a JSON schema without titles, and with an optional field as its type alone: null is to leave it out.

    >>> optional = {"title": "Title", "anyOf": [{"type": "string"}, {"type": "null"}], "default": None}
    >>> shortened({"title": "Arguments", "properties": {"title": optional}})
    {'properties': {'title': {'type': 'string'}}}
    """
    if isinstance(schema, list):
        return [shortened(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    short: dict[str, Any] = {}
    for key, value in schema.items():
        if key in {"properties", "$defs"}:  # their keys are names
            short[key] = {name: shortened(one) for name, one in value.items()}
        elif key != "title" and (key, value) != ("default", None):
            short[key] = shortened(value)
    choices = [one for one in short.get("anyOf", ()) if one != {"type": "null"}]
    if len(choices) == 1:
        del short["anyOf"]
        short = choices[0] | short
    return short
