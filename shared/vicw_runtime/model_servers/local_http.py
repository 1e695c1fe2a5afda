"""HTTP/1.1 to a server on this machine, over TCP or a unix domain socket, without TLS and proxies.

Each question waits for such a request, and a general client costs it 2 ms on its way through pools, proxies and
redirects that no server of this machine has.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

import httptools

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_PORT = 80
_READ_BYTES = 2**16
_INFORMATIONAL = range(100, 200)


class LocalHttp:
    """Connections to the server at ``base_url``, or on the socket ``uds``. They are kept and used again."""

    def __init__(self, base_url: str, uds: Path | None, *, connect_seconds: float) -> None:
        """Raise ValueError for a ``base_url`` that is no address."""
        parts = urlsplit(base_url)
        self._host, self._port, self._uds = parts.hostname or "", parts.port or _PORT, uds
        self._named = {"Host": parts.netloc}
        self._path = quote(parts.path, safe="/%:")
        self._connect_seconds = connect_seconds
        self._idle: list[_Connection] = []
        self._closed = False

    async def send(
        self, method: str, path: str, headers: Mapping[str, str], content: bytes | None, most_bytes: int
    ) -> tuple[int, bytes]:
        """Return status and body of the answer to one request; of a body longer than ``most_bytes`` only its beginning.

        ``path`` is below that of the server's address.

        Raises OSError when the server cannot be reached, goes away or sends no HTTP, ValueError for a header that
        cannot be sent, RuntimeError once closed, and for a body in an encoding, which was not asked for.
        """
        request = _request(method, self._path + path, self._named | dict(headers), content)
        while self._idle:
            connection = self._idle.pop()
            try:
                return await self._exchange(connection, request, most_bytes)
            except _NoAnswerError:
                pass  # the server had closed it meanwhile
        return await self._exchange(await self._connect(), request, most_bytes)

    async def close(self) -> None:
        """Close the connections. Safe to call twice."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    async def _connect(self) -> _Connection:
        if self._closed:
            raise RuntimeError("the client is closed")
        try:
            async with asyncio.timeout(self._connect_seconds):
                if self._uds is not None:
                    return _Connection(*await asyncio.open_unix_connection(self._uds))
                return _Connection(*await asyncio.open_connection(self._host, self._port))
        except TimeoutError as error:
            raise ConnectionError(f"no connection within {self._connect_seconds:g} s") from error

    async def _exchange(self, connection: _Connection, request: bytes, most_bytes: int) -> tuple[int, bytes]:
        usable = False
        try:
            answer = await connection.exchange(request, most_bytes)
            if answer.encoding:
                raise RuntimeError(f"an answer in the encoding {answer.encoding}, which was not asked for")
            usable = answer.complete and answer.kept and not self._closed
            return answer.status, bytes(answer.body)
        finally:  # also when it is cancelled: the server hears so that nobody waits
            if usable:
                self._idle.append(connection)
            else:
                connection.close()


class _NoAnswerError(ConnectionError):
    """The connection ended before the first byte of an answer."""


class _Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def exchange(self, request: bytes, most_bytes: int) -> _Answer:
        answer = _Answer()
        try:
            self._writer.write(request)
            await self._writer.drain()
        except ConnectionError as error:
            raise _NoAnswerError(str(error)) from error
        while not answer.complete and len(answer.body) <= most_bytes:
            try:
                data = await self._reader.read(_READ_BYTES)
            except ConnectionError as error:
                raise (ConnectionError if answer.begun else _NoAnswerError)(str(error)) from error
            if data:
                answer.feed(data)
            elif answer.ends_with_connection:
                break
            else:
                problem = "the connection was closed without a whole answer"
                raise (ConnectionError if answer.begun else _NoAnswerError)(problem)
        return answer

    def close(self) -> None:
        self._writer.close()


class _Answer:
    """An answer as it comes in. The methods with ``on_`` are called by the parser."""

    def __init__(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._sized = False
        self.begun = self.complete = False
        self.kept = False  # whether the server keeps the connection open
        self.status = 0
        self.encoding = ""
        self.body = bytearray()

    @property
    def ends_with_connection(self) -> bool:
        """Whether the end of the connection is that of the body."""
        return bool(self.status) and not self._sized

    def feed(self, data: bytes) -> None:
        self.begun = True
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            raise ConnectionError(f"no answer of HTTP: {error}") from error

    def on_header(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        self._sized |= name in {b"content-length", b"transfer-encoding"}
        if name == b"content-encoding" and value.lower() != b"identity":
            self.encoding = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        self.status = self._parser.get_status_code()

    def on_body(self, part: bytes) -> None:
        self.body += part

    def on_message_complete(self) -> None:
        if self.status in _INFORMATIONAL:
            self.status, self._sized = 0, False
        else:
            self.complete, self.kept = True, self._parser.should_keep_alive()


def _request(method: str, target: str, headers: Mapping[str, str], content: bytes | None) -> bytes:
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    if content is not None:
        lines.append(f"Content-Length: {len(content)}")
    if any("\r" in line or "\n" in line for line in lines):
        raise ValueError("a header has a line break")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + (content or b"")
