"""The socket, the event loop and the signals of a server: what it has before anything that is slow to import."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable

from vicw_shared.errors import SettingsError


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket, so that a taken port is reported, and connections wait, before anything is loaded."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise SettingsError(
            f"cannot listen on {host}:{port}: {error.strerror or error}. Stop what has it, or name another with --port"
        ) from error
    # asyncio sets this only on sockets that name their protocol; without it Nagle holds bodies back for 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.setblocking(False)
    return listener


def fast_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return uvloop's loop factory, or None (asyncio's own) if uvloop is not installed."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def on_stop_signals(stop: Callable[[], object]) -> None:
    """Call ``stop`` in the running event loop at SIGTERM or Ctrl-C, and at Ctrl-Break where there is one.

    It replaces what was called before. A handler that raises would do so inside whatever the loop runs just then.
    """
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGBREAK", signal.SIGINT)):
        try:
            loop.add_signal_handler(number, stop)
        except NotImplementedError:  # Windows
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop))
