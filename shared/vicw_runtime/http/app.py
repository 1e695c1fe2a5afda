"""FastAPI application factory of all services: request ids, body limits, probes, metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from fastapi import FastAPI, Request, Response, Security
from fastapi.responses import PlainTextResponse
from fastapi_offline import FastAPIOffline
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, generate_latest
from starlette.middleware.cors import CORSMiddleware

from vicw_runtime.browser_guard import BrowserGuard
from vicw_runtime.http import problems
from vicw_runtime.http.body import Bodies
from vicw_runtime.http.gate import Caller, Gate, bearer_scheme
from vicw_runtime.http.middleware import PROBES, BodyMiddleware, GuardMiddleware, RequestMiddleware
from vicw_runtime.http.openapi import correct_document
from vicw_runtime.http.problems import name_media_types, refusals
from vicw_runtime.logs import REQUEST_ID_HEADER
from vicw_shared.errors import VicwError
from vicw_shared.model.keys import Right
from vicw_shared.settings import LimitSettings

Probe = Callable[[], Awaitable[None]]
"""Check of a dependency: raises if it does not work."""

_PROBE_SECONDS = 5.0


def create_app(
    *,
    title: str,
    description: str,
    version: str,
    limits: LimitSettings,
    probes: Mapping[str, Probe],
    lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]],
    guard: BrowserGuard | None,
    optional: Mapping[str, Probe] | None = None,
    gate: Gate | None = None,
    describe: Callable[[str | None], Awaitable[Mapping[str, object]]] | None = None,
    more_metrics: Callable[[], Awaitable[bytes]] | None = None,
) -> FastAPI:
    """Return an application with ``/healthz``, ``/readyz``, ``/metrics`` and ``/docs``.

    ``probes`` check the dependencies that the service needs to answer, ``optional`` those it can do without:
    ``/readyz`` names both. ``describe`` returns further facts about a tenant when the service is ready (None: about all
    tenants, for a caller who needs no key). ``gate`` guards these facts, and the metrics. ``guard`` refuses
    what browsers send for other sites; None: no browser reaches the server. ``more_metrics`` returns the metrics of a
    process behind this one, in Prometheus' text format, under other names than this one's.
    """
    app = FastAPIOffline(  # FastAPI's own page loads its script from a CDN and is blank without a network
        title=title,
        description=description,
        version=version,
        lifespan=lifespan,
        redoc_url=None,
        static_url="/docs/assets",
        # Its own spans and logs would contain callers' data; those of ``telemetry`` do not.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
        swagger_ui_parameters={"validatorUrl": None},  # the document is not sent to a validator either
    )
    problems.install(app)
    name_media_types(app)
    correct_document(app)
    _add_middleware(app, limits, guard)

    @app.get(
        "/healthz",
        tags=[PROBES],
        summary="Check whether the process is alive",
        responses={200: _json_example({"status": "alive"})},
        operation_id="healthz",
    )
    async def healthz() -> dict[str, str]:
        return {"status": "alive"}

    @app.get(
        "/readyz",
        tags=[PROBES],
        summary="Check whether the service can answer",
        responses={
            200: _json_example({"status": "ready", "dependencies": sorted((*probes, *(optional or ())))}),
            503: {"model": dict[str, object], "description": "`failing` says which dependency does not work"},
        },
        description="`failing` may name a dependency of a service that is ready, too: one that it can do without.",
        operation_id="readyz",
    )
    async def readyz(request: Request, response: Response) -> dict[str, object]:
        checks = {**probes, **(optional or {})}
        answers = await asyncio.gather(*(_probe(*each) for each in checks.items()))
        failing = {name: reason for name, reason in answers if reason}
        caller = await _caller(request, gate)
        # Reasons name hosts and ports, so callers without a key do not get them.
        reasons = failing if gate is None or caller is not None else dict.fromkeys(failing, "does not work")
        facts: Mapping[str, object] = {"failing": reasons} if reasons else {}
        if failing.keys() & probes.keys():
            response.status_code = 503
            return {"status": "not ready", **facts}
        if describe is not None and caller is not None:
            facts = {**facts, **await describe(caller.tenant if caller.key is not None else None)}
        return {"status": "ready", "dependencies": sorted(checks), **facts}

    @app.get(
        "/metrics",
        tags=[PROBES],
        summary="Get Prometheus metrics",
        response_class=PlainTextResponse,
        responses={200: _METRICS, **(refusals(401, 403, 503) if gate is not None else {})},
        dependencies=[Security(bearer_scheme)] if gate is not None else [],
        operation_id="metrics",
    )
    async def metrics(request: Request) -> Response:
        if gate is not None:
            await gate.admit(request, Right.ADMIN)
        more = await more_metrics() if more_metrics is not None else b""
        return Response(generate_latest(REGISTRY) + more, media_type=CONTENT_TYPE_LATEST)

    return app


_METRICS: dict[str, Any] = {
    "content": {
        "text/plain": {
            "example": "# HELP vicw_http_requests_total HTTP requests answered\n"
            "# TYPE vicw_http_requests_total counter\n"
            'vicw_http_requests_total{method="POST",route="/retrieve",status="200"} 3.0\n'
        }
    }
}


def _json_example(answer: dict[str, object]) -> dict[str, Any]:
    return {"content": {"application/json": {"example": answer}}}


def _add_middleware(app: FastAPI, limits: LimitSettings, guard: BrowserGuard | None) -> None:
    """Add the layers around the routes, the innermost first: a page that may call sees errors of the body, too."""
    app.add_middleware(BodyMiddleware, bodies=Bodies(limits.body_bytes, limits.bodies_bytes))
    if guard is not None and guard.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=frozenset(map(str, guard.origins)),
            allow_methods=("GET", "POST", "PUT", "PATCH", "DELETE"),
            allow_headers=("*",),
            expose_headers=(REQUEST_ID_HEADER, "Retry-After", "WWW-Authenticate"),
            allow_private_network=True,  # a page of the network may call a server of this machine if it is named
        )
    if guard is not None:
        app.add_middleware(GuardMiddleware, guard=guard)
    app.add_middleware(RequestMiddleware)


async def _caller(request: Request, gate: Gate | None) -> Caller | None:
    """Return the caller of ``/readyz``; None without a valid key, which is no error: readiness is public."""
    if gate is None or (gate.required and "authorization" not in request.headers):
        return None
    try:
        return await gate.identify(request)
    except VicwError:
        return None


async def _probe(name: str, probe: Probe) -> tuple[str, str | None]:
    try:
        async with asyncio.timeout(_PROBE_SECONDS):
            await probe()
    except TimeoutError:
        return name, f"no answer within {_PROBE_SECONDS:g} s"
    except Exception as error:
        return name, str(error) or type(error).__name__
    return name, None
