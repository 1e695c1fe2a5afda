"""Corrects what FastAPI writes into the OpenAPI document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI

from vicw_shared.wire.base import Message


def correct_document(app: FastAPI) -> None:
    """Correct the document of ``app``.

    FastAPI leaves null out wherever it stands, also in an example, where it is a value. And it says that an answer in
    lines of JSON is a text, beside the schema of its lines.
    """
    build = app.openapi

    def openapi() -> dict[str, Any]:
        document = build()
        schemas = document.get("components", {}).get("schemas", {})
        for message in _messages(Message):
            name = re.sub(r"\W+", "_", message.__name__)  # that of a generic one has brackets
            if "examples" in schemas.get(name, {}):
                schemas[name]["examples"] = _examples_of(message)
        for methods in document.get("paths", {}).values():
            for operation in methods.values():
                _drop_second_types(operation["responses"])
        return document

    app.openapi = openapi  # type: ignore[method-assign]


def _messages(kind: type[Message]) -> Iterator[type[Message]]:
    for child in kind.__subclasses__():
        yield child
        yield from _messages(child)


def _examples_of(message: type[Message]) -> Any:
    extra, schema = message.model_config["json_schema_extra"], dict[str, Any]()
    if callable(extra):
        extra(schema, message)  # type: ignore[call-arg]
    return (schema if callable(extra) else extra or {})["examples"]


def _drop_second_types(responses: dict[str, Any]) -> None:
    for response in responses.values():
        for content in response.get("content", {}).values():
            if "$ref" in content.get("schema", {}):
                content["schema"].pop("type", None)
