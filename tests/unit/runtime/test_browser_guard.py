"""Which requests of browsers a server answers."""

from __future__ import annotations

import re

import pytest

from vicw_runtime.browser_guard import BrowserGuard
from vicw_shared.errors import FixableError, ForeignHostError, ForeignOriginError, SettingsError
from vicw_shared.settings import ServerSettings
from vicw_shared.settings.variables import named_by_variable

PORT = 8080
OWN = "127.0.0.1:8080"
APP = "https://app.example"


def guard_of(host: str = "127.0.0.1", allowed_hosts: str = "", allowed_origins: str = "") -> BrowserGuard:
    return BrowserGuard.of(ServerSettings(host=host, allowed_hosts=allowed_hosts, allowed_origins=allowed_origins))


def refusal(guard: BrowserGuard, *headers: tuple[str, str], method: str = "POST") -> FixableError | None:
    def values(name: str) -> list[str]:
        return [value for sent, value in headers if sent == name]

    try:
        guard.check(method, values, PORT)
    except FixableError as error:
        return error
    return None


@pytest.mark.parametrize("bound", ["127.0.0.1", "localhost", "::1"])
def test_a_server_on_loopback_answers_to_loopback_names_with_its_port(bound: str) -> None:
    for host in (OWN, "127.8.8.8:8080", "localhost:8080", "LocalHost.:8080", "[::1]:8080"):
        assert refusal(guard_of(bound), ("host", host)) is None, host
    foreign = ("page.example:8080", "127.0.0.1.page.example:8080", "a_page:8080", "192.168.1.2:8080", "0.0.0.0:8080")
    for host in (*foreign, "localhost", "localhost:80", "127.0.0.1:8081", "[::1", "", "localhost:8080,localhost:8080"):
        error = refusal(guard_of(bound), ("host", host))
        assert isinstance(error, ForeignHostError), host
        assert (error.status, "VICW_ALLOWED_HOSTS" in error.detail, "127.0.0.1:8080" in error.detail) == (421,) + (
            True,
        ) * 2


def test_allowed_hosts_extend_the_names_of_a_server_on_loopback() -> None:
    guard = guard_of(allowed_hosts="memory.example, localhost:9000")
    for host in ("memory.example", "memory.example:8443", "localhost:9000", OWN):
        assert refusal(guard, ("host", host)) is None, host
    assert isinstance(refusal(guard, ("host", "page.example:8080")), ForeignHostError)


@pytest.mark.parametrize("bound", ["0.0.0.0", "192.168.1.2", "::", "memory"])
def test_a_server_elsewhere_answers_to_allowed_hosts_once_there_are_any(bound: str) -> None:
    assert refusal(guard_of(bound), ("host", "any.example")) is None
    guard = guard_of(bound, allowed_hosts="memory,*.memory.svc:8080")
    for host in ("memory:8080", "a.memory.svc:8080", "memory"):
        assert refusal(guard, ("host", host)) is None, host
    for host in ("page.example", "a.memory.svc:81", "localhost.page.example"):
        error = refusal(guard, ("host", host))
        assert isinstance(error, ForeignHostError), host
        assert "VICW_ALLOWED_HOSTS does not list it" in error.detail


def test_probes_and_scrapes_by_address_are_answered_elsewhere() -> None:
    guard = guard_of("0.0.0.0", allowed_hosts="memory")
    for host in ("10.1.2.3:8080", "[fd00::7]:8080", "127.0.0.1:8081", "localhost:8081"):
        assert refusal(guard, ("host", host), method="GET") is None, host


def test_a_request_without_host_comes_from_no_browser_and_one_with_two_is_refused() -> None:
    for guard in (guard_of(), guard_of("0.0.0.0", allowed_hosts="memory")):
        assert refusal(guard) is None
        assert isinstance(refusal(guard, ("host", OWN), ("host", OWN)), ForeignHostError)


@pytest.mark.parametrize("bound", ["127.0.0.1", "0.0.0.0"])
@pytest.mark.parametrize(
    "origin", ["http://page.example", "null", "http://127.0.0.1:3000", "http://127.0.0.1", "", APP]
)
def test_a_foreign_origin_is_refused(bound: str, origin: str) -> None:
    error = refusal(guard_of(bound), ("host", OWN), ("origin", origin), ("authorization", "Bearer vicw_a_b"))
    assert isinstance(error, ForeignOriginError)
    assert (error.status, "VICW_ALLOWED_ORIGINS" in error.detail) == (403, True)


def test_pages_of_the_server_itself_may_call_it() -> None:
    for bound, host, origin in (
        ("127.0.0.1", OWN, f"http://{OWN}"),
        ("127.0.0.1", "localhost:8080", "http://localhost:8080"),
        ("0.0.0.0", "memory.example", "https://memory.example"),
    ):
        own = ("host", host), ("origin", origin)
        assert refusal(guard_of(bound), *own) is None
        assert refusal(guard_of(bound), *own, ("sec-fetch-site", "same-origin")) is None
        assert isinstance(refusal(guard_of(bound), *own, ("sec-fetch-site", "cross-site")), ForeignOriginError)


def test_allowed_origins_may_call_and_others_still_may_not() -> None:
    guard = guard_of(allowed_origins=f"{APP}, http://localhost:3000")
    for origin, site in ((APP, "cross-site"), ("http://localhost:3000", "same-site")):
        assert refusal(guard, ("host", OWN), ("origin", origin), ("sec-fetch-site", site)) is None
    for origin in ("http://app.example", "https://app.example:8443", "https://x.app.example", "null"):
        assert isinstance(refusal(guard, ("host", OWN), ("origin", origin)), ForeignOriginError), origin
    foreign_name = refusal(guard, ("host", "page.example:8080"), ("origin", APP))
    assert isinstance(foreign_name, ForeignHostError), "an allowed page still calls the server by its name"
    both = refusal(guard, ("host", OWN), ("origin", APP), ("origin", "http://page.example"))
    assert isinstance(both, ForeignOriginError)


def test_requests_that_pages_of_other_sites_embed_are_refused_without_an_origin() -> None:
    for site in ("cross-site", "same-site"):
        sent = ("host", OWN), ("sec-fetch-site", site)
        for destination in ("image", "script", "iframe", "empty"):
            error = refusal(guard_of(), *sent, ("sec-fetch-dest", destination), method="GET")
            assert isinstance(error, ForeignOriginError), destination
        link = ("sec-fetch-dest", "document")
        assert refusal(guard_of(), *sent, link, method="GET") is None, "a link to /docs works"
        assert isinstance(refusal(guard_of(), *sent, link, method="POST"), ForeignOriginError)
    for site in ("same-origin", "none"):
        assert refusal(guard_of(), ("host", OWN), ("sec-fetch-site", site), method="GET") is None


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("VICW_ALLOWED_HOSTS", "https://memory.example", "is no host name"),
        ("VICW_ALLOWED_HOSTS", "*", "is no host name"),
        ("VICW_ALLOWED_HOSTS", "memory.example:99999", "above 65535"),
        ("VICW_ALLOWED_ORIGINS", "app.example", "is no origin"),
        ("VICW_ALLOWED_ORIGINS", "*", "is no origin"),
        ("VICW_ALLOWED_ORIGINS", "null", "is no origin"),
    ],
)
def test_a_wrong_list_is_an_error_that_names_the_setting(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, says: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError, match=f"{variable} is {re.escape(repr(value))}.*{says}"), named_by_variable():
        ServerSettings()
