"""An operation over HTTP: its lines, its errors, its end, and who may call it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, cast

import httpx
import pytest
from anyio.from_thread import start_blocking_portal
from fastapi import FastAPI

from support.clients.served import serve
from vicw_runtime.browser_guard import BrowserGuard
from vicw_runtime.http import KeyGate, create_app
from vicw_runtime.operations import Memory, Operation, Report
from vicw_runtime.operations.client import ServerAddress, call
from vicw_runtime.operations.router import OperationServer
from vicw_shared.errors import (
    FatalError,
    FieldProblem,
    ForbiddenError,
    InvalidInputError,
    MissingRecordError,
    SettingsError,
    UnauthorizedError,
    UnavailableError,
    VicwError,
)
from vicw_shared.settings import LimitSettings
from vicw_shared.wire.base import Message, StrictInt
from vicw_shared.wire.problem import error_of, problem_of

OWNER = "secret of the owner"


class CountRequest(Message):
    """What the operation is to do."""

    to: StrictInt = 3
    fails_at: StrictInt | None = None
    waits: bool = False
    cleans_up: bool = False
    name: str = ""


class Counted(Message):
    """One number."""

    number: StrictInt
    name: str = ""


class CountResult(Message):
    """The sum."""

    total: StrictInt


events: list[str] = []
QUIET: Report[Counted] = Report()


async def count(memory: Memory, request: CountRequest, report: Report[Counted]) -> CountResult:
    for number in range(request.to):
        if number == request.fails_at:
            raise MissingRecordError(f"there is no {number}")
        report.progress("counting", number, request.to)
        report.item(Counted(number=number, name=request.name))
    if request.waits:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            if request.cleans_up:
                await asyncio.sleep(0.3)
            events.append("cleaned up" if request.cleans_up else "stopped")
            raise
    if request.to > 100:
        raise RuntimeError("a detail that no caller may see")
    return CountResult(total=request.to)


COUNT = Operation(name="count", summary="Count", request=CountRequest, result=CountResult, item=Counted, run=count)
FILES = Operation(
    name="files/count",
    summary="Count",
    request=CountRequest,
    result=CountResult,
    item=Counted,
    run=count,
    needs_owner=lambda request: "/" in request.name,
)
OWN = Operation(
    name="own/count",
    summary="Count",
    request=CountRequest,
    result=CountResult,
    item=Counted,
    run=count,
    owner_only=True,
)


def application(*, required: bool) -> FastAPI:
    operations = OperationServer((COUNT, FILES, OWN), lambda: cast("Memory", None), "t")

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await operations.close()

    def no_ring() -> Any:
        raise AssertionError("no key is looked up")

    gate = KeyGate(no_ring, required=required, tenant="t", owner_token=lambda: OWNER)
    limits = LimitSettings(body_bytes=1000)
    guard = BrowserGuard("127.0.0.1")
    app = create_app(
        title="t", description="d", version="1", limits=limits, probes={}, lifespan=lifespan, gate=gate, guard=guard
    )
    app.include_router(operations.router(gate))
    return app


@contextmanager
def served(*, required: bool = False) -> Iterator[str]:
    events.clear()
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serve(application(required=required))) as url,
    ):
        yield url


def test_a_call_returns_the_result_and_reports_every_item() -> None:
    items: list[int] = []
    steps: list[tuple[str, int, int]] = []
    report: Report[Counted] = Report(lambda *step: steps.append(step), lambda item: items.append(item.number))
    with served() as url:
        assert call(ServerAddress(url), COUNT, CountRequest(to=50), report) == CountResult(total=50)
    assert items == [*range(50)]
    assert steps[0] == ("counting", 0, 50)
    assert len(steps) < 50, "progress of the same moment is dropped"


def test_a_name_may_hold_every_character_that_some_take_for_the_end_of_a_line() -> None:
    name = "a\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029b"
    items: list[str] = []
    with served() as url:
        call(
            ServerAddress(url), COUNT, CountRequest(to=2, name=name), Report(item=lambda item: items.append(item.name))
        )
    assert items == [name, name]


def test_a_key_is_sent_without_the_line_break_of_its_file_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VICW_API_KEY", f" {OWNER}\n")
    assert ServerAddress.at("http://h").token == OWNER
    monkeypatch.setenv("VICW_API_KEY", "one\ntwo")
    with pytest.raises(SettingsError, match="VICW_API_KEY holds a line break") as raised:
        ServerAddress.at("http://h")
    assert "two" not in str(raised.value)
    monkeypatch.setenv("VICW_API_KEY", "\n")
    assert ServerAddress.at("http://h").token is None


@pytest.mark.parametrize("fails_at", [0, 2])
def test_an_error_is_raised_by_the_caller_as_it_is_by_the_operation(fails_at: int) -> None:
    with served() as url, pytest.raises(MissingRecordError, match=f"^there is no {fails_at}$"):
        call(ServerAddress(url), COUNT, CountRequest(fails_at=fails_at), QUIET)


def test_an_error_before_the_first_line_has_its_own_status() -> None:
    with served() as url:
        first = httpx.post(f"{url}/admin/count", json={"fails_at": 0}, trust_env=False)
        later = httpx.post(f"{url}/admin/count", json={"fails_at": 1}, trust_env=False)
        wrong = httpx.post(f"{url}/admin/count", json={"too": 1}, trust_env=False)
    assert (first.status_code, first.json()["detail"]) == (404, "there is no 0")
    assert later.status_code == 200
    *_, last = map(json.loads, later.text.splitlines())
    assert (last["problem"]["status"], last["problem"]["detail"]) == (404, "there is no 1")
    assert (wrong.status_code, wrong.json()["errors"][0]["field"]) == (422, "too")


def test_an_unexpected_error_tells_a_caller_nothing() -> None:
    with served() as url, pytest.raises(VicwError, match="the log has it") as raised:
        call(ServerAddress(url), COUNT, CountRequest(to=101), QUIET)
    assert "no caller may see" not in raised.value.detail


def test_the_end_of_a_connection_stops_the_operation() -> None:
    with served() as url:
        with httpx.stream("POST", f"{url}/admin/count", json={"waits": True}, trust_env=False) as answer:
            lines = answer.iter_lines()
            assert json.loads(next(lines))["progress"]["step"] == "counting"
            assert events == []
        for _ in range(100):
            if events:
                break
            httpx.get(f"{url}/healthz", trust_env=False)
        assert events == ["stopped"]


def test_the_end_of_the_server_stops_the_operation_and_the_caller_learns_of_it() -> None:
    class EndedError(Exception):
        pass

    def end(item: Counted) -> None:
        if item.number == 2:
            raise EndedError

    with served() as url, pytest.raises(EndedError):
        call(ServerAddress(url), COUNT, CountRequest(waits=True), Report(item=end))
    assert events == ["stopped"]
    with pytest.raises(UnavailableError, match=f"^server: {url} does not answer"):
        call(ServerAddress(url), COUNT, CountRequest(), QUIET)


def test_the_owner_needs_no_key_and_what_is_his_is_refused_to_all_others() -> None:
    with served(required=True) as url:
        assert call(ServerAddress(url, OWNER), COUNT, CountRequest(), QUIET).total == 3
        assert call(ServerAddress(url, OWNER), OWN, CountRequest(), QUIET).total == 3
        for token in (None, "another", OWNER[:-1], "ö"):
            with pytest.raises(UnauthorizedError, match="refuses"):
                call(ServerAddress(url, token), COUNT, CountRequest(), QUIET)
    with served(required=False) as url:
        assert call(ServerAddress(url), COUNT, CountRequest(), QUIET).total == 3
        with pytest.raises(ForbiddenError, match="as the same user, with its --data-dir"):
            call(ServerAddress(url), OWN, CountRequest(), QUIET)


def test_a_request_may_be_the_owners_alone_for_what_it_asks() -> None:
    with served() as url:
        assert call(ServerAddress(url), FILES, CountRequest(name="a"), QUIET).total == 3
        assert call(ServerAddress(url, OWNER), FILES, CountRequest(name="/a"), QUIET).total == 3
        with pytest.raises(ForbiddenError, match="Only who owns the data directory"):
            call(ServerAddress(url), FILES, CountRequest(name="/a"), QUIET)


def test_the_end_of_the_server_does_not_break_off_the_clean_up_of_an_operation() -> None:
    with served() as url, pytest.raises(ForbiddenError):
        call(ServerAddress(url), COUNT, CountRequest(waits=True, cleans_up=True), Report(item=_end_with_forbidden))
    assert events == ["cleaned up"]


def _end_with_forbidden(item: Counted) -> None:
    if item.number == 2:
        raise ForbiddenError("the caller ends")


def test_something_else_at_the_address_is_named() -> None:
    async def other(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"<html>hello</html>\n"})

    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serve(cast("FastAPI", other))) as url,
        pytest.raises(FatalError, match="cannot read"),
    ):
        call(ServerAddress(url), COUNT, CountRequest(), QUIET)


@pytest.mark.parametrize(
    "error",
    [
        MissingRecordError("nothing"),
        UnavailableError("graph", "is down"),
        InvalidInputError(FieldProblem("a", "is b", "Send c"), FieldProblem("d", "is e", "Send f")),
        FatalError("an operator has to act"),
        VicwError("unknown"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_problem_document_becomes_the_error_it_was_made_of(error: VicwError) -> None:
    again = error_of(problem_of(error, "r"))
    assert (type(again), again.detail) == (type(error), error.detail)
    if isinstance(error, UnavailableError):
        assert isinstance(again, UnavailableError)
        assert again.dependency == error.dependency


def test_openapi_names_the_lines_of_an_operation() -> None:
    document = application(required=True).openapi()
    content = document["paths"]["/admin/count"]["post"]["responses"]["200"]["content"]
    assert list(content) == ["application/jsonl"]
    name = content["application/jsonl"]["schema"]["$ref"].rpartition("/")[2]
    assert document["components"]["schemas"][name]["properties"].keys() == {"progress", "item", "result", "problem"}
