"""Shared parts of model server processes: arguments, access, listening, and the line for the parent process."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import ctypes
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING

from vicw_runtime import exit_codes, listener
from vicw_shared.errors import FatalError, SettingsError
from vicw_shared.wire.host_names import is_loopback

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI, Request
    from pydantic import SecretStr

    from vicw_runtime.http import SecretGate


_PR_SET_PDEATHSIG = 1
_POLL_SECONDS = 1.0
_GRACE_SECONDS = 10.0


def die_with(parent: int) -> None:
    """Send this process SIGTERM when ``parent`` ends, and exit if it does not stop.

    On Linux the kernel does it at once. A thread checks every second, too, for other systems and for a parent that
    ended before the kernel was asked. On Windows a child keeps its parent's id, so it waits for the end of its standard
    input, which the parent holds open.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    threading.Thread(target=_watch, args=(parent,), name="parent-watch", daemon=True).start()


def _watch(parent: int) -> None:
    if PARENT_HOLDS_STDIN:
        sys.stdin.buffer.read()
    while os.getppid() == parent and not PARENT_HOLDS_STDIN:
        time.sleep(_POLL_SECONDS)
    signal.raise_signal(signal.SIGTERM)
    time.sleep(_GRACE_SECONDS)
    os._exit(1)


PARENT_HOLDS_STDIN = sys.platform == "win32"
"""Whether a parent gives its child a standard input that ends with the parent."""
READY = "vicw-embedding ready"
FATAL = "vicw-embedding fatal"
CLIENT_DISCONNECTED = 499
"""Status of a request whose client has disconnected; it is never sent."""


def run(serve: Callable[[argparse.Namespace], None], program: str, about: str, arguments: list[str] | None) -> int:
    """Parse the ``arguments`` and ``serve`` until SIGTERM or SIGINT.

    Returns the exit code: 0, or 78 for an error that a person has to fix.
    """
    options = _parser(program, about).parse_args(arguments)
    if options.parent_pid:
        die_with(options.parent_pid)
    try:
        serve(options)
    except FatalError as error:
        _announce(f"{FATAL} {error.detail}")
        if not options.parent_pid:  # otherwise the parent reports it
            print(error.detail, file=sys.stderr)
        return exit_codes.FATAL
    finally:
        if options.uds and options.parent_pid and os.getppid() != options.parent_pid:
            with contextlib.suppress(OSError):
                options.uds.parent.rmdir()  # the parent, which would remove the socket's directory, is gone
    return 0


def gate(secret: SecretStr | None, variable: str, host: str | None) -> SecretGate:
    """Return the access check of a server on ``host``; None: on a unix domain socket.

    Raises SettingsError if other machines can reach it and no secret is set, or if the secret is empty.
    """
    from vicw_runtime.http import SecretGate

    value = secret.get_secret_value().strip() if secret is not None else None
    if value == "" or (value is None and host is not None and not is_loopback(host)):
        raise SettingsError(
            f"{variable} is {'not set' if value is None else 'empty'}: without a secret a model server listens only on "
            f"loopback or a unix domain socket. Set {variable}, or {variable}_FILE, to the same value for it and for "
            "all its clients, or set VICW_HOST=127.0.0.1"
        )
    return SecretGate(value, variable=variable)


def listen(app: FastAPI, uds: Path | None, host: str, port: int, shutdown_seconds: float) -> None:
    """Answer on ``uds``, or on ``host`` and ``port``, until SIGTERM or SIGINT.

    Raises SettingsError if the port is taken.
    """
    import uvicorn

    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=max(1, round(shutdown_seconds)),
    )
    # uvicorn raises the signal again after an orderly shutdown, which must not look like a crash.
    signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        with _listen_uds(uds) if uds else listener.listen(host, port) as opened:
            _server(config).run(sockets=[opened])
    finally:
        if uds:
            uds.unlink(missing_ok=True)


async def cancel_on_disconnect[T](request: Request, work: Coroutine[None, None, T]) -> T | None:
    """Return the result, or None if the client disconnects first: its work is cancelled."""
    task = asyncio.create_task(work)
    disconnect = asyncio.ensure_future(request.receive())  # the body is read: only a disconnect can follow
    try:
        await asyncio.wait({task, disconnect}, return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else None
    finally:
        task.cancel()
        disconnect.cancel()


def _parser(program: str, about: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=program, description=about)
    parser.add_argument("--uds", type=Path, help="listen on this unix domain socket")
    parser.add_argument("--host", help="listen on this address (VICW_HOST)")
    parser.add_argument("--port", type=int, help="listen on this port (VICW_PORT)")
    parser.add_argument("--parent-pid", type=int, help="stop when this process is no longer our parent")
    return parser


def _server(config: uvicorn.Config) -> uvicorn.Server:
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started and sockets:
                _announce(f"{READY} {_address(sockets[0])}")

    return Server(config)


def _listen_uds(path: Path) -> socket.socket:
    path.unlink(missing_ok=True)  # a killed process leaves its socket behind
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listener.bind(str(path))
    finally:
        os.umask(before)
    return listener


def _address(listener: socket.socket) -> str:
    name = listener.getsockname()
    if isinstance(name, str):  # the path of a unix domain socket
        return name
    host, port = name[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _announce(line: str) -> None:
    print(line.replace("\n", " "), flush=True)
