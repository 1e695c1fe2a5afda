"""Where a server is and how it is reached: addresses, keys, timeouts, from arguments and the environment."""

from __future__ import annotations

import ipaddress
import os
from typing import Any

import httpx

from vicw_client.errors import AddressError

DEFAULT_URL = "http://127.0.0.1:8080"


def options(base_url: str | None, api_key: str | None, timeout_seconds: float) -> dict[str, Any]:
    """Return the arguments that both kinds of httpx client take. Raises AddressError."""
    url = _address(base_url or os.environ.get("VICW_URL") or DEFAULT_URL)
    api_key = api_key or os.environ.get("VICW_API_KEY")
    return {
        "base_url": url,
        "headers": {"Authorization": f"Bearer {api_key}"} if api_key else {},
        "timeout": timeout_of(timeout_seconds),
        # A proxy from the environment must not swallow what is meant for this machine.
        "trust_env": not _loopback(url.host),
    }


def timeout_of(seconds: float) -> httpx.Timeout:
    """Return how long a request may take, and of that its connection 5 s."""
    return httpx.Timeout(seconds, connect=min(5.0, seconds))


def asked_at(retrieve_url: str | None, base_url: str | None) -> str:
    """Return what the paths of questions begin with: nothing at the client's address; else retrieval's own address.

    Raises AddressError.

    The variable stands beside ``VICW_URL``, so an address that was given by hand is not mixed with it.
    """
    given = retrieve_url or (None if base_url else os.environ.get("VICW_RETRIEVE_URL"))
    return str(_address(given)).rstrip("/") if given else ""


def _address(given: str) -> httpx.URL:
    try:
        url = httpx.URL(given)
    except (httpx.InvalidURL, ValueError) as error:
        raise AddressError(f"{given!r} is no address: {error}") from error
    if url.scheme not in {"http", "https"} or not url.host:
        raise AddressError(f"{given!r} is no address: give one such as {DEFAULT_URL}")
    return url


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
