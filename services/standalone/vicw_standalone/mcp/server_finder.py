"""Finds the server that has the data directory open, or starts one that goes on after the agent ends."""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
import time
from urllib.parse import urlsplit

from vicw_runtime.terminal.recorded_address import beside_data_dir, recorded_address
from vicw_standalone.mcp.bridge import ServerAwayError

_START_SECONDS = 60.0
_POLL_SECONDS = 0.1
_OTHER_SECONDS = 15.0
"""How long the server of another agent, which was first, may take to answer."""


class ServerFinder:
    """``url`` (None: ``VICW_RETRIEVE_URL`` or ``VICW_URL``) names a server elsewhere, which nobody here can start."""

    def __init__(self, url: str | None, *, may_start: bool = True) -> None:
        self._url = url or os.environ.get("VICW_RETRIEVE_URL") or os.environ.get("VICW_URL") or None
        self._may_start = may_start

    def __call__(self) -> str:
        """Return the address of a server that answers. Raises ServerAwayError, which says what to do."""
        if self._url is not None:
            if not _is_address(self._url):
                raise ServerAwayError(f"{self._url!r} is no address of a server: correct --url or VICW_URL")
            if not _answers(self._url):
                raise ServerAwayError(f"No VICW server answers at {self._url}: start it, or correct --url or VICW_URL")
            return self._url
        if (address := recorded_address()) is not None:
            return address
        if not self._may_start:
            raise ServerAwayError("No VICW server runs: start it with `vicw serve`, or leave out --no-start")
        return self._start()

    def _start(self) -> str:
        """Start a server, and return its address once it is recorded; another agent's may be the first."""
        log_path = beside_data_dir("serve.log")
        log_path.parent.mkdir(parents=True, exist_ok=True)
        with log_path.open("ab") as log:
            server = subprocess.Popen(
                [sys.executable, "-c", "from vicw_standalone.cli import main; main()", "serve"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # it outlives this agent
            )
        until, has_ended = time.monotonic() + _START_SECONDS, False
        while time.monotonic() < until:
            if (address := recorded_address()) is not None:
                if server.poll() is None:
                    print(
                        f"vicw mcp: started `vicw serve` at {address}, which goes on when the agent ends. "
                        f"`kill {server.pid}` stops it; its log is {log_path}",
                        file=sys.stderr,
                        flush=True,
                    )
                return address
            if server.poll() is not None and not has_ended:
                has_ended, until = True, time.monotonic() + _OTHER_SECONDS
            time.sleep(_POLL_SECONDS)
        raise ServerAwayError(f"`vicw serve` did not start: {log_path} says why. Start it yourself, then call again")


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # no port, or half an IPv6 address
        return False


def _answers(url: str) -> bool:
    address = urlsplit(url)
    kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
    connection = kind(address.hostname or "", address.port, timeout=5.0)
    try:
        connection.connect()
    except OSError:
        return False
    finally:
        connection.close()
    return True
