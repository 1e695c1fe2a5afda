"""How clients find their server and prove who they are."""

from __future__ import annotations

import inspect
import socket
import threading
from pathlib import Path

import httpx
import pytest

from vicw_client import AsyncVicwClient, Filter, VicwClient
from vicw_client.errors import BadRequestError, VicwClientError


def test_sync_and_async_clients_offer_the_same_methods() -> None:
    def offer(kind: type) -> dict[str, list[str]]:
        return {
            name.removeprefix("a"): list(inspect.signature(member).parameters)
            for name, member in vars(kind).items()
            if not name.startswith("_")
        }

    assert offer(VicwClient) == offer(AsyncVicwClient)
    assert inspect.signature(VicwClient).parameters.keys() == inspect.signature(AsyncVicwClient).parameters.keys()


@pytest.mark.parametrize("method", ["items", "retrieve", "retract", "forget"])
def test_the_methods_that_take_a_filter_are_typed_with_it(method: str) -> None:
    for client in (VicwClient, AsyncVicwClient):
        signature = inspect.signature(getattr(client, method))
        assert signature.parameters["filter"].annotation == "FilterLike | None"


def test_what_is_no_filter_is_refused_by_the_type_checker_and_before_it_is_sent() -> None:
    with VicwClient("http://nobody.invalid", transport=httpx.MockTransport(lambda _: httpx.Response(500))) as client:
        with pytest.raises(BadRequestError, match="filter"):
            client.items(filter="amulet")  # type: ignore[arg-type]
        with pytest.raises(BadRequestError, match="filter"):
            client.retract(filter=3)  # type: ignore[arg-type]
        with pytest.raises(VicwClientError, match="500"):
            client.items(filter=Filter.model_validate({"tags": "amulet"}))


def test_the_address_comes_from_argument_variable_or_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VICW_URL", raising=False)
    with VicwClient() as client:
        assert client.address == "http://127.0.0.1:8080"
    monkeypatch.setenv("VICW_URL", "http://memory.test/vicw/")
    with VicwClient() as client:
        assert client.address == "http://memory.test/vicw"
    with VicwClient("http://other.test:9000") as client:
        assert client.address == "http://other.test:9000"


def test_retrieve_requests_go_to_a_separate_retrieval_url(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*given: str, **named: str) -> str:
        seen: list[str] = []

        def handler(request: httpx.Request) -> httpx.Response:
            seen.append(str(request.url))
            return httpx.Response(500)

        with VicwClient(*given, transport=httpx.MockTransport(handler), **named) as client:  # type: ignore[arg-type]
            with pytest.raises(VicwClientError):
                client.retrieve(query="who?")
            with pytest.raises(VicwClientError):
                client.job("j")
        assert seen[1].startswith("http://ingest.test/"), "everything else goes where it went"
        return seen[0]

    monkeypatch.setenv("VICW_URL", "http://ingest.test")
    monkeypatch.delenv("VICW_RETRIEVE_URL", raising=False)
    assert asked() == "http://ingest.test/retrieve"
    assert asked(retrieve_url="http://ask.test/vicw/") == "http://ask.test/vicw/retrieve"
    monkeypatch.setenv("VICW_RETRIEVE_URL", "http://retrieval.test")
    assert asked() == "http://retrieval.test/retrieve"
    assert asked("http://ingest.test") == "http://ingest.test/retrieve", "no mixture with an address given by hand"


def test_key_and_path_prefix_are_sent() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        assert request.headers["Authorization"] == "Bearer s3cret"
        assert str(request.url) == "http://memory.test/vicw/readyz"
        return httpx.Response(200)

    transport = httpx.MockTransport(handler)
    with VicwClient("http://memory.test/vicw", api_key="s3cret", transport=transport) as client:
        assert client.ready()


def test_the_client_connects_through_a_unix_socket(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")

        thread = threading.Thread(target=answer)
        thread.start()
        with VicwClient(uds=str(path)) as client:
            assert client.ready()
            assert client.address == f"unix:{path}"
        thread.join()


def test_an_environment_proxy_is_not_used_for_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        with VicwClient(f"http://127.0.0.1:{port}") as client:
            assert client.ready()
        thread.join()
