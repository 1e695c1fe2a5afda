from __future__ import annotations

import pytest

from vicw_shared.wire.host_names import Host, Origin, is_loopback, parse_hosts, parse_origins


@pytest.mark.parametrize(
    ("text", "name", "port"),
    [
        ("memory.example", "memory.example", None),
        ("Memory.Example.:8080", "memory.example", 8080),
        ("my_service:80", "my_service", 80),
        ("memory.example:", "memory.example", None),
        ("127.0.0.1:8080", "127.0.0.1", 8080),
        ("[::1]:8080", "::1", 8080),
        ("[0:0:0:0:0:0:0:1]", "::1", None),
        ("[2001:DB8::1]", "2001:db8::1", None),
    ],
)
def test_a_host_is_read_with_its_port(text: str, name: str, port: int | None) -> None:
    assert Host.parse(text) == Host(name, port)
    assert Host.parse(str(Host(name, port))) == Host(name, port)


@pytest.mark.parametrize(
    "text",
    ["", ":80", "a b", "a,b", "a@b", "a/b", "http://a", "a:b", "a:99999", "a:-1", "[::1", "::1", "[x]", ".a", "ä.de"],
)
def test_other_text_is_no_host(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no host name|above 65535|is not|expected|At least|permitted|Expected"):
        Host.parse(text)


def test_a_host_without_a_port_names_those_of_http_and_https() -> None:
    assert [Host("a").has_port(port) for port in (80, 443, 8080)] == [True, True, False]
    assert [Host("a", 8080).has_port(port) for port in (80, 8080)] == [False, True]


def test_a_list_of_hosts_has_names_ports_and_wildcards() -> None:
    patterns = parse_hosts("memory.example, Memory.example.,,*.example.org:8443 , [::1]:9000,")
    assert [(pattern.name, pattern.port) for pattern in patterns] == [
        ("memory.example", None),
        ("*.example.org", 8443),
        ("::1", 9000),
    ], "duplicates and empty entries are left out"

    def allowed(host: str) -> bool:
        return any(pattern.matches(Host.parse(host)) for pattern in patterns)

    assert all(map(allowed, ("memory.example", "MEMORY.EXAMPLE.:1", "a.example.org:8443", "a.b.example.org:8443")))
    others = ("example", "x.memory.example", "memory.example.org", "example.org:8443", "a.example.org", "[::1]:8080")
    assert not any(map(allowed, others))
    assert parse_hosts("") == ()


@pytest.mark.parametrize("entry", ["*", "https://memory.example", "memory.example/path", "a.*.example", "*.", "a b"])
def test_a_wrong_entry_of_the_hosts_says_what_to_write(entry: str) -> None:
    with pytest.raises(ValueError, match=r"is no host name.*such as memory\.example\.org"):
        parse_hosts(f"memory.example,{entry}")


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("https://App.Example:443", "https://app.example"),
        ("http://app.example:80/", "http://app.example"),
        ("http://app.example:443", "http://app.example:443"),
        ("http://[::1]:3000", "http://[::1]:3000"),
        ("moz-extension://0b7e-4a", "moz-extension://0b7e-4a"),
    ],
)
def test_an_origin_is_read_as_browsers_write_it(text: str, read: str) -> None:
    assert [str(origin) for origin in parse_origins(f"{text}, {text}")] == [read]


@pytest.mark.parametrize("text", ["null", "*", "app.example", "https://", "https://a/b", "https://a@b", "https://*.a"])
def test_other_text_is_no_origin(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no origin.*such as https://|is no host name"):
        parse_origins(text)


@pytest.mark.parametrize(
    ("origin", "host", "own"),
    [
        ("http://a:8080", "a:8080", True),
        ("https://a", "A.", True),
        ("https://a", "a:443", True),
        ("http://a:8080", "a:8081", False),
        ("http://a:8080", "a", False),
        ("http://b", "a", False),
        ("app://a", "a", False),
    ],
)
def test_an_origin_is_that_of_the_host_that_its_page_came_from(origin: str, host: str, own: bool) -> None:
    assert Origin.parse(origin).is_of(Host.parse(host)) is own


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False),
     ("10.0.0.1", False), ("memory.example", False), ("127.0.0.1.page.example", False)],
)  # fmt: skip
def test_is_loopback_recognises_loopback_addresses(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback
