"""Passes an agent's lines on to the server's ``/mcp``, each in a request of its own, and the answers back."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import BinaryIO
from urllib.parse import SplitResult, urlsplit

from vicw_standalone.mcp.messages import Era, JsonMessage, answer_of, is_request, read_message, refusal

_AT_ONCE = 8
_CONNECT_SECONDS = 5.0
_ANSWER_SECONDS = 120.0
_LOST = (ConnectionError, http.client.RemoteDisconnected, http.client.CannotSendRequest)


class ServerAwayError(Exception):
    """No server answers; the text says what to do."""


class StdioBridge:
    """Answers requests in the order in which the server does. ``find`` returns its address, and starts one if need be.

    Nothing else is passed on: the server keeps no sessions, so notifications have nothing to act on.
    """

    def __init__(self, find: Callable[[], str], headers: Mapping[str, str], output: BinaryIO) -> None:
        self._find = find
        self._headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **headers,
        }
        self._output = output
        self._era = Era()
        self._thread = threading.local()
        self._writing = threading.Lock()
        self._finding = threading.Lock()
        self._address: SplitResult | None = None
        self._connections: set[http.client.HTTPConnection] = set()

    def run(self, lines: BinaryIO) -> None:
        """Answer until ``lines`` end and every answer is written."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for line in lines:
                if not line.strip():
                    continue
                try:
                    message = read_message(line)
                except (ValueError, RecursionError):
                    self._write(refusal(None, "This line is not one JSON-RPC message"))
                    continue
                if message.get("method") == "initialize" and is_request(message):  # the next ones depend on its answer
                    self._answer(message)
                elif is_request(message):
                    pool.submit(self._answer, message)
        for connection in self._connections:
            connection.close()

    def _answer(self, message: JsonMessage) -> None:
        try:
            body, status = self._post(json.dumps(message).encode(), self._era.headers(message))
            answer = answer_of(message, body, status)
            self._era.answered(message, answer)
        except TimeoutError:
            answer = refusal(message, f"The server did not answer within {_ANSWER_SECONDS:g} s")
        except ServerAwayError as error:
            answer = refusal(message, str(error))
        except Exception as error:  # an agent waits for each answer
            answer = refusal(message, f"The request could not be sent: {error}")
        self._write(answer)

    def _post(self, body: bytes, headers: Mapping[str, str]) -> tuple[bytes, int]:
        """Return the server's answer and its status; asked once more if the connection is lost.

        Every tool may be called twice: what is sent twice is stored once.
        """
        try:
            return self._try(body, headers)
        except _LOST:
            self._drop()
            return self._try(body, headers)

    def _try(self, body: bytes, headers: Mapping[str, str]) -> tuple[bytes, int]:
        address, connection = self._connection()
        path = f"{address.path.rstrip('/')}/mcp"
        connection.request("POST", path, body, {**self._headers, **headers})
        response = connection.getresponse()
        return response.read(), response.status

    def _connection(self) -> tuple[SplitResult, http.client.HTTPConnection]:
        """Return this thread's connection and where it leads."""
        connection: http.client.HTTPConnection | None = getattr(self._thread, "connection", None)
        with self._finding:
            if self._address is None:
                self._address = urlsplit(self._find())
            address = self._address
        if connection is None:
            of_scheme = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
            connection = of_scheme(address.hostname or "", address.port, timeout=_CONNECT_SECONDS)
            connection.connect()
            connection.sock.settimeout(_ANSWER_SECONDS)
            connection.timeout = _ANSWER_SECONDS  # of a connection that it opens again, after one that was closed
            self._thread.connection = connection
            self._connections.add(connection)
        return address, connection

    def _drop(self) -> None:
        """Forget the connection and the address: another server may have taken its place."""
        connection: http.client.HTTPConnection | None = getattr(self._thread, "connection", None)
        if connection is not None:
            connection.close()
            self._connections.discard(connection)
            self._thread.connection = None
        with self._finding:
            self._address = None

    def _write(self, answer: JsonMessage) -> None:
        with self._writing:
            self._output.write(json.dumps(answer).encode() + b"\n")
            self._output.flush()
