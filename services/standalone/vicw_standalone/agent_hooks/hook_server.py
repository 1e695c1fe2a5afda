"""The server that a hook asks. With the standard library alone, and the rest where it is needed: an agent waits."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from vicw_core.hook_events import OWNER_HEADER

if TYPE_CHECKING:
    from http.client import HTTPMessage

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
USUAL_ADDRESS = "http://127.0.0.1:8080"
_ANSWER_SECONDS = 60.0


class NoAnswerError(Exception):
    """The server gave no answer; the text says why."""


class InvalidError(NoAnswerError):
    """The server cannot store what it was sent, now or later."""


class RefusedError(NoAnswerError):
    """The server wants another key; the text says which."""


class HookServer:
    """A server: that of ``url``, of ``VICW_RETRIEVE_URL`` or ``VICW_URL``, or the one of the data directory.

    Of the separate services it is the one that retrieves, which hands turns on.
    """

    def __init__(self, url: str | None) -> None:
        from urllib.parse import urlsplit

        from vicw_runtime.terminal.recorded_address import recorded_address

        variables = (os.environ.get(name) for name in ("VICW_RETRIEVE_URL", "VICW_URL"))
        named = next(filter(None, (url, *variables)), None) or recorded_address()
        self.is_guessed = named is None
        """Nobody has named it, so it may be another program that listens there."""
        self._address = urlsplit(named or USUAL_ADDRESS)
        self._key = os.environ.get("VICW_API_KEY", "").strip()
        self._owner_token: str | None = None

    @property
    def name(self) -> str:
        """Host and port."""
        return self._address.netloc.rpartition("@")[2]

    def prove_owner(self) -> bool:
        """Return whether this is the server of the data directory; from then on requests say that its user sends them.

        Then it is called by the address that it has recorded itself: only that process may have the token.
        """
        from urllib.parse import urlsplit

        from vicw_runtime.terminal.recorded_address import recorded_server

        server = recorded_server()
        if server is None or server.token is None:
            return False
        recorded = urlsplit(server.url)
        if self._address.port != recorded.port or not {self._address.hostname, recorded.hostname} <= _LOOPBACK:
            return False
        self._address, self._owner_token = recorded, server.token
        return True

    def post(
        self, path: str, body: Mapping[str, Any], connect_seconds: float = _ANSWER_SECONDS
    ) -> tuple[dict[str, Any], HTTPMessage]:
        """Return the server's answer with its headers. Raises NoAnswerError for a refusal."""
        import http.client

        kind = http.client.HTTPSConnection if self._address.scheme == "https" else http.client.HTTPConnection
        host = self._address.hostname or ""
        connection = kind(host, self._address.port, timeout=connect_seconds)
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        if self._owner_token is not None:
            headers[OWNER_HEADER] = self._owner_token
        try:
            connection.connect()
            connection.sock.settimeout(_ANSWER_SECONDS)
            connection.request("POST", self._address.path.rstrip("/") + path, json.dumps(body).encode(), headers)
            response = connection.getresponse()
            text = response.read()
        finally:
            connection.close()
        if response.status in (http.client.UNAUTHORIZED, http.client.FORBIDDEN):
            raise RefusedError(_detail(text) or f"HTTP status {response.status}")
        answer = json.loads(text)
        if response.status in (http.client.REQUEST_ENTITY_TOO_LARGE, http.client.UNPROCESSABLE_ENTITY):
            raise InvalidError(str(answer.get("detail") or response.status))
        if response.status >= http.client.BAD_REQUEST:
            raise NoAnswerError(str(answer.get("detail") or response.status))
        return answer, response.headers


def _detail(text: bytes) -> str:
    """Return what a problem document says; the empty text for a page of a proxy."""
    try:
        return str(json.loads(text)["detail"])
    except (ValueError, KeyError, TypeError):
        return ""
