"""FastAPI application factory of all services: request ids, body limits, probes, metrics."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager

import structlog
from fastapi import FastAPI, Request, Response, Security
from fastapi.responses import PlainTextResponse
from fastapi_offline import FastAPIOffline
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, Counter, Histogram, generate_latest
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vicw_runtime.http import problems
from vicw_runtime.http.body import Bodies
from vicw_runtime.http.gate import Caller, Gate, bearer_scheme
from vicw_runtime.http.problems import name_media_types, refusals
from vicw_runtime.logs import REQUEST_ID_HEADER, bind_request_id
from vicw_shared.errors import UnavailableError, VicwError
from vicw_shared.model.keys import Right
from vicw_shared.settings import LimitSettings
from vicw_shared.telemetry.spans import TRACE_HEADERS, EntrySpan, SpanRole, entry_span
from vicw_shared.telemetry.stages import SECONDS as BOUNDS

Probe = Callable[[], Awaitable[None]]
"""Check of a dependency: raises if it does not work."""

PROBES = "probes"
"""Tag of routes that are polled: their requests are logged at debug level only."""

_log = structlog.get_logger()
_CLIENT_GONE = 499
_PROBE_SECONDS = 5.0
_STOPPED = "it is being stopped. What it has stored stays; send the request again"
REQUESTS = Counter("vicw_http_requests_total", "HTTP requests answered", ["method", "route", "status"])
SECONDS = Histogram("vicw_http_request_seconds", "Time to answer an HTTP request", ["method", "route"], buckets=BOUNDS)


def create_app(
    *,
    title: str,
    description: str,
    version: str,
    limits: LimitSettings,
    probes: Mapping[str, Probe],
    lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]],
    optional: Mapping[str, Probe] | None = None,
    gate: Gate | None = None,
    describe: Callable[[str | None], Awaitable[Mapping[str, object]]] | None = None,
    more_metrics: Callable[[], Awaitable[bytes]] | None = None,
) -> FastAPI:
    """Return an application with ``/healthz``, ``/readyz``, ``/metrics`` and ``/docs``.

    ``probes`` check the dependencies that the service needs to answer, ``optional`` those it can do without:
    ``/readyz`` names both. ``describe`` returns further facts about a tenant when the service is ready (None: about all
    tenants, for a caller with the right ``admin``). ``gate`` guards these facts, and the metrics. ``more_metrics``
    returns the metrics of a process behind this one, in Prometheus' text format, under other names than this one's.
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
    app.add_middleware(_RequestMiddleware, bodies=Bodies(limits.body_bytes, limits.bodies_bytes))

    @app.get("/healthz", tags=[PROBES], summary="Check whether the process is alive")
    async def healthz() -> dict[str, str]:
        return {"status": "alive"}

    @app.get(
        "/readyz",
        tags=[PROBES],
        summary="Check whether the service can answer",
        responses={503: {"model": dict[str, object], "description": "`failing` says which dependency does not work"}},
        description="`failing` may name a dependency of a service that is ready, too: one that it can do without.",
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
            facts = {**facts, **await describe(None if Right.ADMIN in caller.rights else caller.tenant)}
        return {"status": "ready", "dependencies": sorted(checks), **facts}

    @app.get(
        "/metrics",
        tags=[PROBES],
        summary="Get Prometheus metrics",
        response_class=PlainTextResponse,
        responses=refusals(401, 403, 503) if gate is not None else {},
        dependencies=[Security(bearer_scheme)] if gate is not None else [],
    )
    async def metrics(request: Request) -> Response:
        if gate is not None:
            await gate.admit(request, Right.ADMIN)
        more = await more_metrics() if more_metrics is not None else b""
        return Response(generate_latest(REGISTRY) + more, media_type=CONTENT_TYPE_LATEST)

    return app


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


class _RequestMiddleware:
    """ASGI middleware: binds the request id, limits bodies, traces, measures, logs, answers unexpected errors."""

    def __init__(self, app: ASGIApp, bodies: Bodies) -> None:
        self._app = app
        self._bodies = bodies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        request_id = bind_request_id(headers.get(REQUEST_ID_HEADER.lower().encode(), b"").decode("latin-1") or None)
        carrier = {name: headers[name.encode()].decode("latin-1") for name in TRACE_HEADERS if name.encode() in headers}
        # Polling requests, for health or for a job, start no trace, but may continue one.
        with entry_span("HTTP", SpanRole.SERVER, carrier, starts=scope["method"] == "POST") as span:
            await self._answer(scope, receive, send, headers, request_id, span)

    async def _answer(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        headers: Mapping[bytes, bytes],
        request_id: str,
        span: EntrySpan,
    ) -> None:
        started = time.perf_counter()
        status: int | None = None

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
            await send(message)

        try:
            declared = int(headers.get(b"content-length", b"0") or 0)
            with self._bodies.reading(declared, receive) as counted:
                await self._app(scope, counted, sending)
        except VicwError as error:
            await problems.respond(error)(scope, receive, sending)
        except ClientDisconnect:
            status = _CLIENT_GONE
        except asyncio.CancelledError:  # the server stops, and this request outlasts its grace period
            if status is not None:
                raise
            await problems.respond(UnavailableError("server", _STOPPED))(scope, receive, sending)
        except Exception as error:
            # Handled here, since Starlette would answer outside of this middleware, without the request id.
            _log.error("unexpected error", exc_info=error)
            if status is not None:
                raise  # the answer has begun: the connection is cut
            await problems.respond(problems.unexpected())(scope, receive, sending)
        finally:
            self._record(scope, status or 500, time.perf_counter() - started, span)

    @staticmethod
    def _record(scope: Scope, status: int, seconds: float, span: EntrySpan) -> None:
        route_match = scope.get("route")
        route = getattr(route_match, "path", "unmatched")
        method = scope["method"] if scope["method"] in {"GET", "POST", "PUT", "DELETE", "PATCH", "HEAD"} else "other"
        REQUESTS.labels(method, route, status).inc()
        SECONDS.labels(method, route).observe(seconds)
        attributes = {"http.request.method": method, "http.route": route, "http.response.status_code": status}
        span.describe(f"{method} {route}", attributes, failed=status >= 500)
        log = _log.debug if PROBES in getattr(route_match, "tags", ()) else _log.info
        log("request", method=method, route=route, status=status, ms=round(seconds * 1000, 1))
