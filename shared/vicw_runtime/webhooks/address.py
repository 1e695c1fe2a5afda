"""Where webhooks may be sent. Names are resolved here, so that what was checked is what is connected to."""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import Executor
from functools import partial
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

import httpx

from vicw_shared.errors import FieldProblem, InvalidInputError

_CARRYING_IPV4 = tuple(IPv6Network(one) for one in ("64:ff9b::/96", "64:ff9b:1::/48", "::/96", "::ffff:0:0:0/96"))
"""Networks whose last 32 bits are an IPv4 address: NAT64, and two old forms."""
_SPECIAL_IPV4 = tuple(IPv4Network(one) for one in ("192.0.0.0/24", "168.63.129.16/32"))
"""Addresses that are not public, whatever this Python says: of protocols, and of a cloud's own host."""
_FIX = "Name a public address with http or https, such as https://app.example.org/memory"


def parse_url(url: str) -> httpx.URL:
    """Return an address of a receiver. Raises InvalidInputError unless it is one of HTTP, without user or fragment."""
    try:
        parsed = httpx.URL(url)
        port = parsed.port
    except (httpx.InvalidURL, ValueError):
        raise refused("is no address") from None
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise refused("is no address of http or https")
    if parsed.userinfo or parsed.fragment:
        raise refused("has a user, a password or a fragment")
    if port is not None and not 0 < port < 65_536:
        raise refused("has no valid port")
    return parsed


async def resolve(url: httpx.URL, *, allow_private: bool, threads: Executor | None = None) -> list[str]:
    """Return the IP addresses of a receiver, all of which may be connected to. Raises InvalidInputError.

    The look-up takes one of ``threads``; None: one of those that all work of the process shares.
    """
    host = url.raw_host.decode("ascii")  # the name that the request and its certificate have, too
    look_up = partial(socket.getaddrinfo, host, None, type=socket.SOCK_STREAM)
    try:
        found = await asyncio.get_running_loop().run_in_executor(threads, look_up)
    except (OSError, ValueError):
        raise refused("has a host that cannot be resolved") from None
    addresses = list(dict.fromkeys(str(where[0]) for *_, where in found))
    if not allow_private and not all(is_public(ip_address(one)) for one in addresses):
        raise refused("leads to a loopback, link-local, private or other special address")
    return addresses


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Return whether an address is one of the public network, also the one that it carries inside, if it does."""
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and any(address in network for network in _CARRYING_IPV4):
            inner = IPv4Address(int(address) & 0xFFFF_FFFF)
        if inner is None and address.teredo is not None:
            return False
        if inner is not None:
            return is_public(inner)
        if address.scope_id is not None or address.is_site_local:
            return False
    elif any(address in network for network in _SPECIAL_IPV4):
        return False
    return address.is_global and not address.is_multicast


def refused(problem: str) -> InvalidInputError:
    """Return the error for an address that nothing is sent to."""
    return InvalidInputError(FieldProblem("url", problem, _FIX))
