"""OpenAPI of refusals in all services: each status with a problem document."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from vicw_shared.wire.problem import MEDIA_TYPE, Problem

_DESCRIPTIONS = {
    401: "No key that holds",
    403: "The key lacks the right",
    404: "Nothing has this name",
    409: "Contradicts an earlier request",
    413: "Over a size limit",
    422: "A field is wrong; nothing was stored",
    429: "Too much work is waiting; try again after a while",
    503: "A dependency is down",
    507: "The disk is full; nothing was stored",
}
_PROBLEM = {"$ref": f"#/components/schemas/{Problem.__name__}"}


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return a route's ``responses`` for refusals with these statuses."""
    return {status: {"model": Problem, "description": _DESCRIPTIONS[status]} for status in statuses}


def name_media_types(app: FastAPI) -> None:
    """Give problem documents their media type in the OpenAPI: FastAPI supports only one media type per route."""
    build = app.openapi

    def openapi() -> dict[str, Any]:
        document = build()
        for methods in document.get("paths", {}).values():
            for operation in methods.values():
                for response in operation["responses"].values():
                    contents = response.get("content", {}).values()
                    if any(content.get("schema") == _PROBLEM for content in contents):
                        response["content"] = {MEDIA_TYPE: {"schema": _PROBLEM}}
        return document

    app.openapi = openapi  # type: ignore[method-assign]
