"""The client for servers of this machine, against servers that behave as HTTP allows, and worse."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from vicw_runtime.model_servers.local_http import LocalHttp

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
Behaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def serve(*connections: Behaviour) -> AsyncIterator[LocalHttp]:
    """Open a client to a server that treats each connection in turn as given."""
    waiting = iter(connections)

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await next(waiting)(reader, writer)
        except asyncio.IncompleteReadError:
            pass  # the client closed it
        finally:
            writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    client = LocalHttp(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", None, connect_seconds=5)
    async with server:
        yield client
        await client.close()


def answering(*answers: bytes, then: Behaviour | None = None) -> Behaviour:
    """Answer requests without a body with these bytes, then close."""

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for answer in answers:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            await writer.drain()
        if then is not None:
            await then(reader, writer)

    return behave


async def ask(client: LocalHttp) -> tuple[int, bytes]:
    return await client.send("GET", "/models", {}, None, 1000)


async def test_a_connection_is_used_again() -> None:
    async with serve(answering(OK, OK, OK)) as client:
        assert [await ask(client) for _ in range(3)] == [(200, b"ok")] * 3


async def test_a_connection_that_the_server_closed_meanwhile_is_replaced() -> None:
    async with serve(answering(OK), answering(OK)) as client:
        assert await ask(client) == (200, b"ok")
        await asyncio.sleep(0.05)
        assert await ask(client) == (200, b"ok")


async def test_a_new_connection_that_gives_no_answer_is_an_error() -> None:
    async with serve(answering()) as client:
        with pytest.raises(ConnectionError, match=r"whole answer|reset"):
            await ask(client)


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n", b"abc"),
        (b"HTTP/1.1 200 OK\r\n\r\nto the end", b"to the end"),
        (b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + OK, b"ok"),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\nContent-Length: 2\r\n\r\nok", b"ok"),
    ],
)
async def test_a_body_ends_where_http_says(answer: bytes, body: bytes) -> None:
    async with serve(answering(answer)) as client:
        assert await ask(client) == (200, body)


async def test_a_connection_that_the_server_will_close_is_not_used_again() -> None:
    last = b"HTTP/1.1 503 Busy\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    async with serve(answering(last, OK), answering(OK)) as client:
        assert await ask(client) == (503, b"")
        assert await ask(client) == (200, b"ok")


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-server\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n",
    ],
)
async def test_what_is_no_whole_answer_of_http_is_an_error(answer: bytes) -> None:
    async with serve(answering(answer)) as client:
        with pytest.raises(ConnectionError):
            await ask(client)


async def test_of_a_long_body_only_the_beginning_is_read() -> None:
    async def endless(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while not writer.is_closing():
            writer.write(b"x" * 1000)
            await writer.drain()

    async with serve(answering(b"HTTP/1.1 200 OK\r\n\r\n", then=endless)) as client:
        status, body = await ask(client)
    assert (status, len(body) > 1000) == (200, True)


async def test_a_cancelled_request_closes_its_connection() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def until_closed(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        begun.set()
        assert await reader.read() == b""
        ended.set()

    async with serve(until_closed) as client:
        asking = asyncio.create_task(ask(client))
        await asyncio.wait_for(begun.wait(), 30)
        asking.cancel()
        await asyncio.wait_for(ended.wait(), 30)
        with pytest.raises(asyncio.CancelledError):
            await asking


async def test_a_line_break_in_a_header_is_refused() -> None:
    async with serve() as client:
        with pytest.raises(ValueError, match="line break"):
            await client.send("GET", "/", {"Authorization": "Bearer k\r\nX: y"}, None, 10)
