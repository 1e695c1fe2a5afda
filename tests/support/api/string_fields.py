"""Bodies with one string in every field that takes any, and the list of these fields as the OpenAPI has it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_FIXED = {"enum", "const", "format"}
RULED: dict[str, dict[str, Any]] = {
    "/ingest": {"items": [{"trigger_phrases": ["closing time"], "page": {"folder": "wiki", "path": "docs/setup.md"}}]},
    "/retrieve": {
        "template": {"whole": "{results}", "result": "{text}"},
        "timezone": "Europe/Paris",
        "viewer": {"timezone": "Europe/Paris"},
    },
}
"""By path, what has a syntax of its own, so that not every string may stand there."""


def string_fields(document: dict[str, Any], path: str) -> set[str]:
    """Return the places of a request's body where any string may stand, such as ``items[].tags[]``."""
    body = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
    return set(_strings(body, document, ""))


def _strings(schema: dict[str, Any], document: dict[str, Any], at: str) -> Iterator[str]:
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    for option in (*schema.get("anyOf", ()), *schema.get("allOf", ())):
        yield from _strings(option, document, at)
    if schema.get("type") == "string" and not _FIXED & schema.keys():
        yield at
    if schema.get("type") == "array":
        yield from _strings(schema["items"], document, f"{at}[]")
    for name, inner in schema.get("properties", {}).items():
        yield from _strings(inner, document, f"{at}.{name}".lstrip("."))


def ingest_body(hostile: str) -> dict[str, Any]:
    """Return an item that says one thing everywhere; only its relations name what there is."""
    thing = {"id": hostile, "name": hostile, "subtype": hostile, "description": hostile}
    told = {
        "entities": [thing],
        "concepts": [{**thing, "id": f"c{hostile[:500]}", "subtype": f"c{hostile[:500]}"}],
        "events": [{**thing, "id": f"e{hostile[:500]}"}],
        "relations": [{"source": "$item", "type": "RELATED_TO", "target": hostile, "desc": hostile}],
    }
    item = {
        "id": hostile,
        "text": hostile,
        "subtype": hostile,
        "name": hostile,
        "speaker": hostile,
        "user": hostile,
        "flow_id": hostile,
        "tags": [hostile],
        "bucket": hostile,
        "source": hostile,
        "metadata": {hostile: [hostile, {"in": hostile}]},
        "about": [hostile],
        "sensitivity": "personal",
        "portable": False,
        "extraction": told,
    }
    return {"context": hostile, "domain": hostile, "flow_id": hostile, "items": [item]}


def retrieve_body(hostile: str) -> dict[str, Any]:
    """Return a question for what ``ingest_body`` has said."""
    return {
        "query": hostile,
        "context": hostile,
        "domain": hostile,
        "viewer": {"user": hostile, "context": hostile, "participants": [hostile]},
        "tags": {"any": [hostile, "other"], "all": [hostile], "none": ["other"]},
        "explain": True,
    }


def places(body: Any, at: str = "") -> Iterator[tuple[str, list[str | int]]]:
    """Return each string of a body: the place in the schema's words, and the way to it."""
    if isinstance(body, str):
        yield at, []
    elif isinstance(body, dict):
        for name, inner in body.items():
            for place, way in places(inner, f"{at}.{name}".lstrip(".")):
                yield place, [name, *way]
    elif isinstance(body, list):
        for index, inner in enumerate(body):
            for place, way in places(inner, f"{at}[]"):
                yield place, [index, *way]
