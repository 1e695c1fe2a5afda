"""``PATCH /items`` at a service that only reads: an ingress knows paths alone, and leads it here with the reads.

The ingest service answers it. Its document lists the operations, so this one's does not.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

from fastapi import APIRouter, Request, Response

from vicw_runtime.http import Gate
from vicw_runtime.mcp.http_writer import HttpWriters
from vicw_shared.model.keys import Right

_KEPT = ("Content-Type", "ETag", "Retry-After")


def create_changes_router(writers: Callable[[], HttpWriters], gate: Gate) -> APIRouter:
    """Return the routes behind ``gate``. ``writers`` is called once per request."""
    router = APIRouter(route_class=gate.route(Right.INGEST), include_in_schema=False)

    async def hand_on(http: Request) -> Response:
        uid = http.path_params.get("uid")
        path = "/items" if uid is None else f"/items/{quote(uid, safe='')}"
        answer = (
            await writers()
            .of(http.headers.get("Authorization"))
            .patch(path, http.url.query, await http.body(), http.headers.get("If-Match"))
        )
        headers = {name: answer.headers[name] for name in _KEPT if name in answer.headers}
        return Response(answer.content, answer.status_code, headers)

    router.add_api_route("/items", hand_on, methods=["PATCH"])
    router.add_api_route("/items/{uid}", hand_on, methods=["PATCH"])
    return router
