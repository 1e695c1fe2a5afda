"""Connection options: addresses, keys and timeouts, from arguments and the environment."""

from __future__ import annotations

import ipaddress
import os
import sys
from typing import Any

import httpx

from vicw_client.errors import AddressError

DEFAULT_URL = "http://127.0.0.1:8080"


def options(base_url: str | None, api_key: str | None, timeout_seconds: float) -> dict[str, Any]:
    """Return the arguments for either kind of httpx client. Raises AddressError."""
    url = _address(base_url or os.environ.get("VICW_URL") or DEFAULT_URL)
    # An error of the HTTP library would show a key that ends with a line break.
    api_key = (api_key or os.environ.get("VICW_API_KEY") or "").strip()
    return {
        "base_url": url,
        "headers": {"Authorization": f"Bearer {api_key}"} if api_key else {},
        "timeout": timeout_of(timeout_seconds),
        # A proxy from the environment must not receive requests to this machine.
        "trust_env": not _is_loopback(url.host),
    }


def timeout_of(seconds: float) -> httpx.Timeout:
    """Return the timeout of a request; connecting may take 5 s of it at most."""
    return httpx.Timeout(seconds, connect=min(5.0, seconds))


def retrieve_base(retrieve_url: str | None, base_url: str | None) -> str:
    """Return the base of retrieval paths: the retrieval service's own address, or "" for the client's address.

    ``VICW_RETRIEVE_URL`` complements ``VICW_URL``: it is ignored if ``base_url`` is given. Raises AddressError.
    """
    address = retrieve_url or (None if base_url else os.environ.get("VICW_RETRIEVE_URL"))
    return str(_address(address)).rstrip("/") if address else ""


def _address(address: str) -> httpx.URL:
    try:
        url = httpx.URL(address)
    except (httpx.InvalidURL, ValueError) as error:
        raise AddressError(f"{address!r} is not an address: {error}") from error
    if url.scheme not in {"http", "https"} or not url.host:
        raise AddressError(f"{address!r} is not an address: give one such as {DEFAULT_URL}")
    return url


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def trace_headers() -> dict[str, str]:
    """Return the W3C headers of this program's current trace; empty without one."""
    if "opentelemetry.trace" not in sys.modules:
        return {}
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    headers: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(headers)
    return headers
