"""Host names and origins, as HTTP headers and settings write them."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass

_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|(\w[\w.-]*))(?::(\d{1,5})?)?", re.ASCII)
_ORIGIN = re.compile(r"([a-z][a-z0-9+.-]*)://(.+)", re.ASCII)
_DEFAULT_PORTS = {"http": 80, "https": 443}
_WILDCARD = "*."


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a server that listens on ``host``."""
    return host == "localhost" or _is_loopback_address(host)


def _is_loopback_address(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class Host:
    """A host, with the port if one is written. ``name`` is lower case, without a final dot or brackets."""

    name: str
    port: int | None = None

    @classmethod
    def parse(cls, text: str) -> Host:
        """Return the host that a Host header names. Raises ValueError for anything else."""
        parts = _HOST.fullmatch(text.lower())
        if parts is None:
            raise ValueError(f"{text[:100]!a} is no host name")
        address, name, port = parts.groups()
        if port is not None and int(port) > 65535:
            raise ValueError(f"{text[:100]!a} has a port above 65535")
        name = str(ipaddress.IPv6Address(address)) if address else name.removesuffix(".")
        return cls(name, int(port) if port else None)

    @property
    def is_address(self) -> bool:
        """Whether it is an IP address, not a name."""
        try:
            ipaddress.ip_address(self.name)
        except ValueError:
            return False
        return True

    def has_port(self, port: int) -> bool:
        """Return whether it names ``port``; without a port it names those of HTTP and HTTPS."""
        return self.port == port if self.port is not None else port in _DEFAULT_PORTS.values()

    def __str__(self) -> str:
        name = f"[{self.name}]" if ":" in self.name else self.name
        return name if self.port is None else f"{name}:{self.port}"


@dataclass(frozen=True, slots=True)
class HostPattern:
    """Hosts that a setting allows: one name, or with ``*.`` all names below a domain; without a port, on any port."""

    name: str
    port: int | None

    @classmethod
    def parse(cls, text: str) -> HostPattern:
        """Return the pattern of one entry of a list. Raises ValueError with what is wrong with it."""
        below = text.startswith(_WILDCARD)
        try:
            host = Host.parse(text.removeprefix(_WILDCARD))
        except ValueError as error:
            raise ValueError(
                f"{error}. Write a name without scheme and path, such as memory.example.org, memory.example.org:8443 "
                "or *.example.org"
            ) from error
        return cls(f"{_WILDCARD}{host.name}" if below else host.name, host.port)

    def matches(self, host: Host) -> bool:
        """Return whether ``host`` is one of these."""
        named = host.name.endswith(self.name[1:]) if self.name.startswith(_WILDCARD) else host.name == self.name
        return named and (self.port is None or host.has_port(self.port))


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a web page: scheme, host and port (None: the scheme's own)."""

    scheme: str
    host: Host

    @classmethod
    def parse(cls, text: str) -> Origin:
        """Return the origin that an Origin header names. Raises ValueError for anything else, ``null`` among it."""
        parts = _ORIGIN.fullmatch(text.lower())
        if parts is None:
            raise ValueError(f"{text[:100]!a} is no origin. Write scheme and name, such as https://app.example.org")
        scheme, host = parts[1], Host.parse(parts[2])
        return cls(scheme, Host(host.name, None if host.port == _DEFAULT_PORTS.get(scheme) else host.port))

    def is_of(self, host: Host) -> bool:
        """Return whether a page that was loaded from ``host`` has this origin."""
        default = _DEFAULT_PORTS.get(self.scheme)
        return default is not None and (self.host.name, self.host.port or default) == (host.name, host.port or default)

    def __str__(self) -> str:
        """Return it as browsers write it."""
        return f"{self.scheme}://{self.host}"


def _list_of[T](parse: Callable[[str], T], text: str) -> tuple[T, ...]:
    return tuple(dict.fromkeys(parse(entry) for part in text.split(",") if (entry := part.strip())))


def parse_hosts(text: str) -> tuple[HostPattern, ...]:
    """Return the hosts of a list separated by commas; empty entries are left out. Raises ValueError."""
    return _list_of(HostPattern.parse, text)


def parse_origins(text: str) -> tuple[Origin, ...]:
    """Return the origins of a list separated by commas; empty entries are left out. Raises ValueError."""
    return _list_of(lambda entry: Origin.parse(entry.removesuffix("/")), text)
