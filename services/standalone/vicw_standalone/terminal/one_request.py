"""One request to a server with the standard library alone: the client, its models and its HTTP library take longer."""

from __future__ import annotations

import http.client
import json
import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from vicw_runtime.console import fail
from vicw_runtime.terminal.recorded_address import recorded_address

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})  # `is_loopback` knows more, and takes 10 ms to import
_CONNECT_SECONDS = 5.0


def post(path: str, body: Mapping[str, Any], url: str | None, *, seconds: float = 120.0) -> dict[str, Any] | None:
    """Return the answer of a server on this machine to one attempt; None where the client has to ask it.

    The client is for other machines (TLS, proxies), for a retry, and for whatever is no answer: it knows what each
    failure means. Addresses and the key are those of the client. An answer that takes more than ``seconds`` ends the
    command: asked again, the server would work on it twice.
    """
    service = None if url else os.environ.get("VICW_RETRIEVE_URL")
    try:
        named = url or service or os.environ.get("VICW_URL") or recorded_address()
        base = urlsplit(named or "http://127.0.0.1:8080")
    except ValueError:  # no address; the client says so
        return None
    key = os.environ.get("VICW_API_KEY", "").strip()
    if base.scheme != "http" or base.hostname not in _LOOPBACK or not key.isprintable():
        return None
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    try:
        connection = http.client.HTTPConnection(base.hostname, base.port, timeout=_CONNECT_SECONDS)
        connection.connect()
    except (OSError, ValueError):
        return None
    connection.sock.settimeout(seconds)
    try:
        connection.request("POST", base.path.rstrip("/") + path, json.dumps(body).encode(), headers)
        response = connection.getresponse()
        answer = json.loads(response.read()) if response.status == http.client.OK else None
    except TimeoutError:
        fail(f"http://{base.hostname}:{connection.port} did not answer in time")
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        connection.close()
    return answer if isinstance(answer, dict) else None
