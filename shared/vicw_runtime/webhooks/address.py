"""Where webhooks may be sent. Names are resolved here, so that what was checked is what is connected to."""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import Executor
from functools import partial
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

import httpx

from vicw_shared.errors import FieldProblem, InvalidInputError

_NAT64 = IPv6Network("64:ff9b::/96")
_FIX = "Name a public address with http or https, such as https://app.example.org/memory"


def parse_url(url: str) -> httpx.URL:
    """Return an address of a receiver. Raises InvalidInputError unless it is one of HTTP, without user or fragment."""
    try:
        parsed = httpx.URL(url)
        port = parsed.port
    except (httpx.InvalidURL, ValueError):
        raise _refused("is no address") from None
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise _refused("is no address of http or https")
    if parsed.userinfo or parsed.fragment:
        raise _refused("has a user, a password or a fragment")
    if port is not None and not 0 < port < 65_536:
        raise _refused("has no valid port")
    return parsed


async def resolve(url: httpx.URL, *, allow_private: bool, threads: Executor | None = None) -> list[str]:
    """Return the IP addresses of a receiver, all of which may be connected to. Raises InvalidInputError.

    The look-up takes one of ``threads``; None: one of those that all work of the process shares.
    """
    look_up = partial(socket.getaddrinfo, url.host, None, type=socket.SOCK_STREAM)
    try:
        found = await asyncio.get_running_loop().run_in_executor(threads, look_up)
    except (OSError, ValueError):
        raise _refused("has a host that cannot be resolved") from None
    addresses = list(dict.fromkeys(str(where[0]) for *_, where in found))
    if not allow_private and not all(is_public(ip_address(one)) for one in addresses):
        raise _refused("leads to a loopback, link-local, private or other special address")
    return addresses


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Return whether an address is one of the public network, also the one that it carries inside, if it does."""
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and address in _NAT64:
            inner = IPv4Address(int(address) & 0xFFFF_FFFF)
        if inner is None and address.teredo is not None:
            return False
        if inner is not None:
            return is_public(inner)
        if address.scope_id is not None or address.is_site_local:
            return False
    return address.is_global and not address.is_multicast


def _refused(problem: str) -> InvalidInputError:
    return InvalidInputError(FieldProblem("url", problem, _FIX))
