"""Refuses what web pages of other sites make a browser send, whether or not the request has a key.

A page may have its own name resolve to this server's address; its browser then takes the server for the page's own, and
lets it read every answer. So a server answers only to names that it knows are its own. IP addresses and ``localhost``
are no such names: nobody can make them resolve to anything else, so a page that a browser loaded from there came from
there. Browsers also send a page's requests to other servers without showing it the answer; they name the page's origin.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vicw_shared.errors import ForeignHostError, ForeignOriginError
from vicw_shared.settings import ServerSettings
from vicw_shared.wire.host_names import Host, HostPattern, Origin, is_loopback, parse_hosts, parse_origins

_OWN_SITES = {"same-origin", "none"}
"""What a browser says of requests of the server's own pages, and of addresses that a person typed."""

type HeaderValues = Callable[[str], list[str]]
"""Returns the values of a header, whose name is in lower case."""


@dataclass(frozen=True, slots=True)
class BrowserGuard:
    """Decides by the headers ``Host``, ``Origin`` and ``Sec-Fetch-…`` whether a request is answered.

    ``host``: the address that the server listens on. On loopback it answers to loopback names with its own port, and to
    ``hosts``. Elsewhere it answers to ``hosts``, ``localhost`` and IP addresses, or to any name if ``hosts`` is empty.
    """

    host: str
    hosts: tuple[HostPattern, ...] = ()
    origins: tuple[Origin, ...] = ()

    @classmethod
    def of(cls, settings: ServerSettings, host: str | None = None) -> BrowserGuard:
        """Return the guard of a server that listens on ``host`` (None: that of the settings)."""
        hosts, origins = parse_hosts(settings.allowed_hosts), parse_origins(settings.allowed_origins)
        return cls(settings.host if host is None else host, hosts, origins)

    def check(self, method: str, values: HeaderValues, port: int | None) -> None:
        """Check a request that arrived at ``port`` (None: that of HTTP).

        Raises ForeignHostError or ForeignOriginError, which name the setting that would allow it.
        """
        host = self._check_host(values("host"), port or 80)
        is_own_site = _OWN_SITES.issuperset(values("sec-fetch-site"))
        origins = values("origin")
        if not origins:
            # A link to the server opens its page; the page with the link cannot read it.
            is_link = method in {"GET", "HEAD"} and values("sec-fetch-dest") == ["document"]
            if not is_own_site and not is_link:
                raise _foreign("of another site")
        for text in origins:
            origin = _parsed(Origin.parse, text)
            is_own = origin is not None and host is not None and origin.is_of(host)
            if not (is_own and is_own_site) and origin not in self.origins:
                raise _foreign(f"of the origin {text[:100]!a}")

    def _check_host(self, values: list[str], port: int) -> Host | None:
        """Return the host that a request names; None for one without: every browser sends it."""
        if not values:
            return None
        host = _parsed(Host.parse, values[0]) if len(values) == 1 else None
        if host is None or not self._answers_to(host, port):
            name = ", ".join(value[:100] for value in values)
            raise ForeignHostError(f"This server does not answer to the name {name!a}: {self._fix(port)}")
        return host

    def _answers_to(self, host: Host, port: int) -> bool:
        if any(pattern.matches(host) for pattern in self.hosts):
            return True
        if is_loopback(self.host):
            return is_loopback(host.name) and host.has_port(port)
        return not self.hosts or host.is_address or is_loopback(host.name)

    def _fix(self, port: int) -> str:
        if is_loopback(self.host):
            return (
                f"it listens on {self.host}, so it is called 127.0.0.1:{port}, [::1]:{port} or localhost:{port}. If a "
                "reverse proxy or a tunnel calls it by another name or port, list that in VICW_ALLOWED_HOSTS"
            )
        return "VICW_ALLOWED_HOSTS does not list it. Add it there, or call the server by a listed name or its address"


def _foreign(page: str) -> ForeignOriginError:
    return ForeignOriginError(
        f"A browser sent this for a web page {page}. If that page may call this server, list its origin in "
        "VICW_ALLOWED_ORIGINS. If it is this server's own page behind a reverse proxy, have the proxy pass on the "
        "header Host"
    )


def _parsed[T](parse: Callable[[str], T], text: str) -> T | None:
    try:
        return parse(text)
    except ValueError:
        return None
