"""ASGI middleware of all services: the request's id, trace and metrics; the browser guard; the limits of its body."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import nullcontext

import structlog
from prometheus_client import Counter, Histogram
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vicw_runtime.browser_guard import BrowserGuard
from vicw_runtime.http import problems
from vicw_runtime.http.body import STREAMED, Bodies
from vicw_runtime.logs import REQUEST_ID_HEADER, bind_request_id
from vicw_shared.errors import UnavailableError, VicwError
from vicw_shared.telemetry.spans import TRACE_HEADERS, EntrySpan, SpanRole, entry_span
from vicw_shared.telemetry.stages import SECONDS as BOUNDS

PROBES = "probes"
"""Tag of routes that are polled: their requests are logged at debug level only."""

REQUESTS = Counter("vicw_http_requests_total", "HTTP requests answered", ["method", "route", "status"])
SECONDS = Histogram("vicw_http_request_seconds", "Time to answer an HTTP request", ["method", "route"], buckets=BOUNDS)
_CLIENT_GONE = 499
_POLICY_VIOLATION = 1008
_STOPPED = "it is being stopped. What it has stored stays; send the request again"
_log = structlog.get_logger()


class RequestMiddleware:
    """Binds the request id, traces, measures and logs."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request (ASGI)."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        request_id = bind_request_id(headers.get(REQUEST_ID_HEADER.lower().encode(), b"").decode("latin-1") or None)
        carrier = {name: headers[name.encode()].decode("latin-1") for name in TRACE_HEADERS if name.encode() in headers}
        # Polling requests, for health or for a job, start no trace, but may continue one.
        with entry_span("HTTP", SpanRole.SERVER, carrier, starts=scope["method"] == "POST") as span:
            await self._answer(scope, receive, send, request_id, span)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, request_id: str, span: EntrySpan) -> None:
        started = time.perf_counter()
        status: int | None = None

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except ClientDisconnect:
            status = _CLIENT_GONE
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


class GuardMiddleware:
    """Answers what the guard refuses, before anything reads the body."""

    def __init__(self, app: ASGIApp, guard: BrowserGuard) -> None:
        self._app = app
        self._guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request (ASGI)."""
        try:
            if scope["type"] in {"http", "websocket"}:
                port = (scope.get("server") or (None, None))[1]
                self._guard.check(scope.get("method", "GET"), Headers(scope=scope).getlist, port)
        except VicwError as error:
            if scope["type"] == "http":
                await problems.respond(error)(scope, receive, send)
            else:
                await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
        else:
            await self._app(scope, receive, send)


class BodyMiddleware:
    """Limits the size of bodies, and answers unexpected errors, those of a server that stops among them."""

    def __init__(self, app: ASGIApp, bodies: Bodies) -> None:
        self._app = app
        self._bodies = bodies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request (ASGI)."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers: Mapping[bytes, bytes] = dict(scope["headers"])
        is_streamed = (scope["method"], scope["path"]) in STREAMED
        has_begun = False

        async def sending(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            declared = int(headers.get(b"content-length", b"0") or 0)
            with nullcontext(receive) if is_streamed else self._bodies.reading(declared, receive) as counted:
                await self._app(scope, counted, sending)
        except VicwError as error:
            await problems.respond(error)(scope, receive, sending)
        except ClientDisconnect:
            raise
        except asyncio.CancelledError:  # the server stops, and this request outlasts its grace period
            if has_begun:
                raise
            await problems.respond(UnavailableError("server", _STOPPED))(scope, receive, sending)
        except Exception as error:
            # Handled here, since Starlette would answer outside of these layers, without the request id.
            _log.error("unexpected error", exc_info=error)
            if has_begun:
                raise  # the answer has begun: the connection is cut
            await problems.respond(problems.unexpected())(scope, receive, sending)
