"""A stream of events on a real server: it ends with its reader, and with the server; who does not read is cut off."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from vicw_runtime.http.event_stream import EventStream, is_stopping, with_stream_control

pytestmark = pytest.mark.timeout(60)
REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


@dataclass
class Source:
    """Chunks of a size, one each pause, and how the sending of them ended."""

    size: int
    pause_seconds: float
    sent: int = 0
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    async def chunks(self, scope: Scope) -> AsyncGenerator[bytes]:
        try:
            while not is_stopping(scope):
                self.sent += 1
                yield b"x" * self.size
                await asyncio.sleep(self.pause_seconds)
        finally:
            self.closed.set()


@asynccontextmanager
async def serving(source: Source) -> AsyncIterator[tuple[uvicorn.Server, int]]:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await EventStream(source.chunks(scope), unread_seconds=0.5)(scope, receive, send)

    config = uvicorn.Config(
        with_stream_control(app, lambda: server.should_exit), port=0, log_config=None, lifespan="off"
    )
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        task = asyncio.create_task(server._serve(sockets=[listener]))
        try:
            yield server, listener.getsockname()[1]
        finally:
            server.should_exit = True
            await asyncio.wait_for(task, 10)


async def test_who_does_not_read_is_cut_off_and_nothing_is_collected_for_it() -> None:
    source = Source(size=200_000, pause_seconds=0)
    async with serving(source) as (_, port):
        with socket.create_connection(("127.0.0.1", port), timeout=20) as reader:
            reader.sendall(REQUEST)
            await asyncio.wait_for(source.closed.wait(), 20)
            sent = source.sent
            await asyncio.sleep(0.3)
            assert source.sent == sent < 200, "what the buffers of a connection hold, and no more"
            with suppress(ConnectionResetError):
                while await asyncio.to_thread(reader.recv, 1 << 20):
                    pass  # what had left for it; then the connection is closed


async def test_a_slow_reader_keeps_its_stream() -> None:
    source = Source(size=10, pause_seconds=0.05)
    async with serving(source) as (_, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(REQUEST)
        head = await reader.readuntil(b"\r\n\r\n")
        assert b"text/event-stream" in head and b"content-length" not in head.lower()
        await asyncio.sleep(1)
        assert not source.closed.is_set()
        assert b"x" * 10 in await reader.read(1000)
        writer.close()
        await asyncio.wait_for(source.closed.wait(), 10)


async def test_a_stream_ends_when_its_server_stops() -> None:
    source = Source(size=10, pause_seconds=0.05)
    async with serving(source) as (server, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(REQUEST)
        await reader.readuntil(b"\r\n\r\n")
        server.should_exit = True
        async with asyncio.timeout(5):
            assert (await reader.read()).endswith(b"0\r\n\r\n"), "it ended as an answer that is whole"
        writer.close()
