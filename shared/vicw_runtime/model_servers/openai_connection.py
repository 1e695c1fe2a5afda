"""HTTP client of servers with the OpenAI API: retries, timeouts, and the error for each refusal."""

from __future__ import annotations

import asyncio
import json
import random
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import structlog

from vicw_runtime.logs import REQUEST_ID_HEADER
from vicw_runtime.model_servers.local_http import LocalHttp
from vicw_runtime.model_servers.remote_http import RemoteHttp
from vicw_shared.errors import (
    BrokenError,
    FieldProblem,
    InvalidInputError,
    LimitExceededError,
    OverloadedError,
    SettingsError,
    TooSlowError,
    UnavailableError,
    UnknownHostError,
    VicwError,
)
from vicw_shared.telemetry.engines import RETRIES
from vicw_shared.telemetry.spans import trace_headers
from vicw_shared.wire.host_names import is_loopback

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

MAX_BYTES = 2**22
"""Maximum size of an answer without vectors: a million tokens. The parsed answer takes some twenty times as much."""
_CONNECT_SECONDS = 5.0
_FIRST_DELAY_SECONDS = 0.05
_MAX_DELAY_SECONDS = 1.0
_log = structlog.get_logger()
_TRANSIENT_STATUSES = {502, 503, 504}


class _TransientError(Exception):
    """A transient failure: a retry may succeed."""

    def __init__(self, failure: UnavailableError) -> None:
        super().__init__(failure.detail)
        self.failure = failure


@dataclass(frozen=True, slots=True)
class Peer:
    """A server's names: its dependency name, its name in messages, and the prefix of its variables."""

    dependency: str
    label: str
    variables: str


EMBEDDING = Peer("embedding", "the embedding server", "VICW_EMBEDDING_")


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """An answer of a server."""

    status: int
    body: bytes

    def json(self) -> Any:
        """Return the parsed body. Raises ValueError if it is not JSON."""
        return json.loads(self.body)


class OpenAIConnection:
    """Connection to the server at ``base_url`` (``…/v1``), or on the unix domain socket ``uds``.

    It retries for ``retry_seconds`` after a lost connection, or an answer that the server is starting or stopping.
    ``timeout_seconds`` bounds each request, retries included. ``on_loss`` is called with the ``base_url`` of each
    failed try; the next try uses the ``base_url`` set by then. Connections open with the first request. The request id
    is sent along, for the server's log. An answer is read only up to its maximum size: a server may send without end.
    """

    def __init__(
        self,
        *,
        base_url: str | None,
        uds: Path | None,
        api_key: str | None,
        timeout_seconds: float,
        retry_seconds: float,
        on_loss: Callable[[str], None] = lambda _: None,
        peer: Peer = EMBEDDING,
    ) -> None:
        if (base_url is None) == (uds is None):
            raise ValueError("give either base_url or uds")
        self.base_url = (base_url or f"http://{peer.dependency}/v1").rstrip("/")
        self._uds = uds
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._timeout_seconds = timeout_seconds
        self._retry_seconds = retry_seconds
        self._on_loss = on_loss
        self._peer = peer
        self._ways: dict[str, LocalHttp | RemoteHttp] = {}

    async def send(
        self,
        method: str,
        path: str,
        *,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> HttpAnswer:
        """Return the answer to one request; ``body`` is sent as JSON, unless it is None.

        Raises UnavailableError when the server cannot be reached or does not answer in time (BrokenError: its answer is
        longer than ``max_bytes``), OverloadedError when its queue is full, LimitExceededError and InvalidInputError
        when it refuses the request, SettingsError when the address, the key or the model is wrong.
        """
        sent = {**(headers or {}), **_request_id(), **trace_headers()}
        content = None
        if body is not None:
            sent["Content-Type"] = "application/json"
            content = json.dumps(body).encode()  # ASCII: half a surrogate pair is no UTF-8
        loop = asyncio.get_running_loop()
        last_try = loop.time() + min(self._retry_seconds, self._timeout_seconds)
        delay = _FIRST_DELAY_SECONDS
        try:
            async with asyncio.timeout(self._timeout_seconds):
                while True:
                    base_url = self.base_url
                    try:
                        return await self._try(method, base_url, path, content, sent, max_bytes)
                    except _TransientError as passing:
                        self._on_loss(base_url)
                        if loop.time() + delay > last_try:
                            raise passing.failure from passing
                    RETRIES.labels(self._peer.dependency).inc()
                    await asyncio.sleep(delay * random.uniform(0.5, 1.0))  # noqa: S311 - jitter
                    delay = min(delay * 2, _MAX_DELAY_SECONDS)
        except TimeoutError as error:
            raise TooSlowError(self._peer.dependency, f"no answer within {self._timeout_seconds:g} s") from error

    async def close(self) -> None:
        """Close connections. Safe to call twice."""
        for way in self._ways.values():
            await way.close()

    async def _try(
        self, method: str, base_url: str, path: str, content: bytes | None, headers: dict[str, str], max_bytes: int
    ) -> HttpAnswer:
        try:
            way = self._ways.get(base_url) or self._open(base_url)
            answer = HttpAnswer(*await way.send(method, path, {**self._headers, **headers}, content, max_bytes))
        except OSError as error:
            raise _TransientError(self._unreachable(error)) from error
        except RuntimeError as error:  # the client is closed, or the answer cannot be read
            raise self._unreachable(error) from error
        except ValueError as error:
            raise SettingsError(f"{error}. Look at {_variable_names(self._peer, 'URL', 'API_KEY')}") from error
        if not _is_good(answer.status):
            failure = _failure(self._peer, answer)
            if isinstance(failure, UnavailableError) and answer.status in _TRANSIENT_STATUSES:
                raise _TransientError(failure)
            raise failure
        if len(answer.body) > max_bytes:
            problem = f"an answer of {self._peer.label} is longer than {max_bytes} bytes"
            names_of = _variable_names(self._peer, "URL", "MODEL")
            raise BrokenError(self._peer.dependency, f"{problem}. Look at {names_of}")
        return answer

    def _open(self, base_url: str) -> LocalHttp | RemoteHttp:
        """Return a client for an address, which is kept. Raises ValueError for one that is none."""
        parts = urlsplit(base_url)
        is_here = self._uds is not None or is_loopback(parts.hostname or "")
        way = self._ways[base_url] = (
            LocalHttp(base_url, self._uds, connect_seconds=_CONNECT_SECONDS)
            if is_here and parts.scheme == "http" and "@" not in parts.netloc
            # No proxy leads back to this machine.
            else RemoteHttp(base_url, connect_seconds=_CONNECT_SECONDS, proxies=not is_here)
        )
        return way

    def _unreachable(self, error: Exception) -> UnavailableError:
        kind = UnknownHostError if _is_unknown_host(error) else UnavailableError
        where = self._uds or urlsplit(self.base_url).netloc.rpartition("@")[2]
        return kind(self._peer.dependency, f"{where}: {str(error) or type(error).__name__}")


def _is_good(status: int) -> bool:
    return 200 <= status < 300


def _request_id() -> dict[str, str]:
    bound = structlog.contextvars.get_contextvars().get("request_id")
    return {REQUEST_ID_HEADER: bound} if bound else {}


def _failure(peer: Peer, answer: HttpAnswer) -> VicwError:
    status, detail = answer.status, _detail(answer)
    message = f"{peer.label} answered {status}: {detail}"
    if status == 429:
        _log.warning("a server is full", server=peer.dependency, said=detail)
        # Without the server's own text: its queue holds all tenants' requests, and one tenant gets this message.
        return OverloadedError(f"{peer.label} has too much waiting", dependency=peer.dependency)
    if status == 413:
        return LimitExceededError(message)
    if status in {401, 403, 404, 405}:
        return SettingsError(f"{message}. Look at {_variable_names(peer, 'URL', 'API_KEY', 'MODEL')}")
    if 400 <= status < 500 and status != 408:
        return InvalidInputError(FieldProblem("text", message, f"Shorten the text, or look at {peer.variables}*"))
    kind = BrokenError if status not in _TRANSIENT_STATUSES else UnavailableError
    return kind(peer.dependency, message)


def _variable_names(peer: Peer, *settings: str) -> str:
    return ", ".join(peer.variables + name for name in settings)


def _detail(answer: HttpAnswer) -> str:
    try:
        body = answer.json()
    except ValueError:
        return answer.body.decode("utf-8", "replace")[:200]
    if isinstance(body, dict):
        error = body.get("error")
        return str(body.get("detail") or (error.get("message") if isinstance(error, dict) else error) or body)[:500]
    return str(body)[:500]


def _is_unknown_host(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, socket.gaierror):
        error = error.__cause__ or error.__context__
    return error is not None
