"""HTTP endpoints of erasure. Their right is ``erase``, of the key's own tenant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from vicw_ingest.erasure.requests.service import erase
from vicw_ingest.pipeline import IngestPorts
from vicw_runtime.http import Gate, caller_of, refusals, tenant_of
from vicw_shared.model.keys import Right
from vicw_shared.wire.examples import story
from vicw_shared.wire.forget import EraseRequest, Erasure


def add_erasure_routes(router: APIRouter, ports: Callable[[], IngestPorts], gate: Gate) -> None:
    """Add the routes that erase. Each request calls ``ports`` anew."""

    async def post_forget(request: EraseRequest, http: Request, response: Response) -> Erasure:
        of = ports()
        done = await erase(
            request,
            tenant_of(http),
            of.erasures,
            limits=of.limits,
            wait_seconds=of.settings.wait_seconds,
            key=caller_of(http).key,
        )
        response.status_code = 202 if done.status == "running" else 200
        return done

    async def get_erasure(erasure: Annotated[str, Path(examples=[story.ERASURE])], http: Request) -> Erasure:
        return await ports().erasures.status(tenant_of(http), erasure)

    router.add_api_route(
        "/forget",
        post_forget,
        methods=["POST"],
        tags=["erasure"],
        operation_id="erase",
        summary="Erase for good, and prove that nothing is left",
        responses={
            **refusals(401, 403, 404, 409, 413, 422, 503, 507),
            202: {
                "model": Erasure,
                "description": "Durable; it goes on beside questions, also after a restart",
            },
        },
        route_class_override=gate.route(Right.ERASE),
    )
    router.add_api_route(
        "/forget/{erasure}",
        get_erasure,
        methods=["GET"],
        tags=["erasure"],
        operation_id="get_erasure",
        summary="Get the progress and the proof of an erasure",
        responses=refusals(401, 403, 404, 422, 503),
        route_class_override=gate.route(Right.ERASE),
    )
