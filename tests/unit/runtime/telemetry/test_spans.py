"""Spans of one process: what starts a trace, what goes on with one, and what is never told."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager

import httpx
import pytest
import structlog
from fastapi import APIRouter, FastAPI
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from support.fakes.otlp_collector import collecting
from support.stores.memory import Memory
from vicw_client import VicwClient
from vicw_runtime.browser_guard import BrowserGuard
from vicw_runtime.http import create_app
from vicw_runtime.telemetry.opentelemetry import OpenTelemetryRecorder
from vicw_runtime.telemetry.tracing import start_traces, stop_traces
from vicw_shared.errors import SettingsError, UnavailableError
from vicw_shared.settings import LimitSettings, TraceSettings
from vicw_shared.settings.variables import named_by_variable
from vicw_shared.telemetry import spans
from vicw_shared.telemetry.spans import SpanRole, entry_span, span, trace_headers

_TRACE, _CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
_SENT = {"traceparent": f"00-{_TRACE}-{_CALLER}-01"}
type Ended = Callable[[], dict[str, ReadableSpan]]


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ended]:
    """Traces on; returns the spans that have ended, by name."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(spans.Process, "recorder", OpenTelemetryRecorder(provider))
    yield lambda: {span.name: span for span in exporter.get_finished_spans()}
    provider.shutdown()


def trace_of(span: ReadableSpan) -> str:
    assert span.context is not None
    return f"{span.context.trace_id:032x}"


def parent_of(span: ReadableSpan) -> str | None:
    return f"{span.parent.span_id:016x}" if span.parent is not None else None


def id_of(span: ReadableSpan) -> str:
    assert span.context is not None
    return f"{span.context.span_id:016x}"


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    yield


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    router = APIRouter()

    @router.post("/things/{thing}")
    async def post(thing: str) -> dict[str, str]:
        if thing == "broken":
            raise UnavailableError("graph", "the secret reason")
        with span("work"):
            return trace_headers() | {"logged": structlog.contextvars.get_contextvars()["trace_id"]}

    @router.get("/things/{thing}")
    async def get(thing: str) -> dict[str, str]:
        return trace_headers()

    guard = BrowserGuard("127.0.0.1")
    app = create_app(
        title="t", description="d", version="1", limits=LimitSettings(), probes={}, lifespan=lifespan, guard=guard
    )
    app.include_router(router)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as opened:
        yield opened


async def test_a_request_continues_the_trace_of_its_caller(client: httpx.AsyncClient, ended: Ended) -> None:
    told = (await client.post("/things/secret?secret=1", headers=_SENT)).json()
    server, work = ended()["POST /things/{thing}"], ended()["work"]
    assert (trace_of(server), parent_of(server), server.kind) == (_TRACE, _CALLER, SpanKind.SERVER)
    assert (trace_of(work), parent_of(work)) == (_TRACE, id_of(server))
    assert told["traceparent"].startswith(f"00-{_TRACE}-{id_of(work)}-")
    assert told["logged"] == _TRACE
    assert dict(server.attributes or {}) == {
        "http.request.method": "POST",
        "http.route": "/things/{thing}",
        "http.response.status_code": 200,
    }
    assert "secret" not in str([one.to_json() for one in ended().values()])


@pytest.mark.parametrize("header", ["", "nonsense", "00-" + "0" * 32 + f"-{_CALLER}-01", "é" * 3000])
async def test_an_invalid_traceparent_header_is_ignored(client: httpx.AsyncClient, ended: Ended, header: str) -> None:
    answer = await client.post("/things/1", headers=[(b"traceparent", header.encode("latin-1"))])
    assert answer.status_code == 200
    assert parent_of(ended()["POST /things/{thing}"]) is None


async def test_get_requests_start_no_trace_but_may_continue_one(client: httpx.AsyncClient, ended: Ended) -> None:
    for path in ("/things/1", "/healthz", "/readyz", "/metrics", "/nowhere"):
        assert "traceparent" not in (await client.get(path)).text
    assert ended() == {}
    await client.get("/things/1", headers=_SENT)
    assert trace_of(ended()["GET /things/{thing}"]) == _TRACE


async def test_spans_record_the_type_of_an_error_never_its_message(client: httpx.AsyncClient, ended: Ended) -> None:
    assert (await client.post("/things/broken")).status_code == 503
    assert ended()["POST /things/{thing}"].status.status_code is StatusCode.ERROR
    with pytest.raises(ZeroDivisionError), entry_span("outer", SpanRole.INTERNAL), span("inner"):
        raise ZeroDivisionError("the secret reason")
    for name in ("outer", "inner"):
        failed = ended()[name]
        assert failed.status.status_code is StatusCode.ERROR
        assert (failed.attributes or {})["error.type"] == "ZeroDivisionError"
    assert "secret" not in str([one.to_json() for one in ended().values()])


async def test_a_span_outside_a_trace_is_not_recorded(ended: Ended) -> None:
    with span("alone"):
        assert trace_headers() == {}
    assert ended() == {}


async def test_engine_calls_are_child_spans_of_retrieval_stages(memory: Memory, ended: Ended) -> None:
    await memory.ingest({"id": "1", "text": "The secret cat slept."})
    with entry_span("asked", SpanRole.SERVER, _SENT):
        await memory.retrieve("secret cat")
    told = ended()
    for stage in ("embed", "channels", "cross_score", "fuse", "domain", "expand", "synthesize"):
        assert trace_of(told[f"retrieve.{stage}"]) == _TRACE
    assert parent_of(told["channel.bm25"]) == id_of(told["retrieve.channels"])
    assert parent_of(told["edge.search"]) in {id_of(told["channel.bm25"]), id_of(told["channel.dense"])}
    assert parent_of(told["sqlite.owners"]) == id_of(told["retrieve.fuse"])
    assert told["sqlite.owners"].kind is SpanKind.CLIENT
    assert "secret" not in str([one.to_json() for one in told.values()])


async def test_a_waiting_ingest_has_its_indexing_in_the_same_trace(memory: Memory, ended: Ended) -> None:
    with entry_span("asked", SpanRole.SERVER, _SENT):
        await memory.ingest({"id": "1", "text": "The cat slept."})
    told = ended()
    names = ("ingest.check", "ingest.commit", "ingest.plan", "sqlite.write", "sqlite.write.put_nodes", "ingest.wait")
    for name in (*names, "index.batch", "index.embed", "index.upsert", "edge.upsert", "index.settle"):
        assert trace_of(told[name]) == _TRACE, name
    assert parent_of(told["edge.upsert"]) == id_of(told["index.upsert"])
    assert parent_of(told["index.upsert"]) == id_of(told["index.batch"])


async def test_indexing_that_no_request_waits_for_has_its_own_trace(memory: Memory, ended: Ended) -> None:
    with entry_span("asked", SpanRole.SERVER, _SENT):
        await memory.ingest({"id": "1", "text": "The cat slept."}, wait=False)
    async with asyncio.timeout(10):
        while "index.batch" not in ended():  # noqa: ASYNC110 - spans tell nobody that they end
            await asyncio.sleep(0.01)
    assert parent_of(ended()["index.batch"]) is None


def test_the_client_continues_the_trace_of_its_program(ended: Ended) -> None:
    seen: list[str | None] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers.get("traceparent"))
        return httpx.Response(200)

    with VicwClient("http://memory.test", transport=httpx.MockTransport(handler)) as client:
        client.ready()
        with entry_span("program", SpanRole.INTERNAL):
            client.ready()
    assert seen[0] is None
    assert seen[1] is not None
    assert seen[1].split("-")[1:3] == [trace_of(ended()["program"]), id_of(ended()["program"])]


def test_spans_are_sent_to_the_collector_by_the_time_traces_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test")
    with collecting() as collector:
        start_traces(TraceSettings(endpoint=collector.url), "a-service")
        try:
            with entry_span("outer", SpanRole.SERVER, _SENT), span("inner", SpanRole.CLIENT):
                pass
        finally:
            stop_traces()
        (inner, outer) = collector.spans
        assert (inner.service, inner.name, inner.trace, inner.parent) == ("a-service", "inner", _TRACE, outer.id)
        assert (outer.name, outer.parent, outer.scope) == ("outer", _CALLER, "vicw")
        assert collector.paths == {"/v1/traces"}
        with entry_span("after", SpanRole.SERVER), span("after"):
            assert trace_headers() == {}
    assert type(trace.get_tracer_provider()).__name__ == "ProxyTracerProvider", "other libraries are told of nothing"


def run(code: str, **variables: str) -> str:
    """Return what a program prints, in an environment with these of our variables alone."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("VICW_")}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=clean | variables, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


def test_an_unreachable_collector_does_not_delay_shutdown() -> None:
    code = """
import time
from vicw_shared.settings import TraceSettings
from vicw_shared.telemetry.spans import SpanRole, entry_span
from vicw_runtime.telemetry.tracing import start_traces, stop_traces
start_traces(TraceSettings(), "s")
with entry_span("d", SpanRole.SERVER):
    pass
started = time.monotonic()
stop_traces()
print(time.monotonic() - started)
"""
    printed = run(code, VICW_TRACES_ENDPOINT="http://127.0.0.1:9")
    assert float(printed) < 1.5


def test_traces_are_off_by_default_and_import_no_exporter() -> None:
    code = """
import sys
import vicw_ingest.app, vicw_retrieval.app, vicw_embedding.app, vicw_standalone.app, vicw_sleep.worker, vicw_sleep.beat
from vicw_shared.settings import TraceSettings
from vicw_runtime.telemetry.tracing import require_traces, start_traces
require_traces(TraceSettings())
start_traces(TraceSettings(), "s")
sending = ("opentelemetry.exporter", "opentelemetry.sdk.trace", "vicw_runtime.telemetry.opentelemetry")
print([name for name in sys.modules if name.startswith(sending)])
"""
    printed = run(code)
    assert printed == "[]\n"


def test_an_invalid_trace_endpoint_is_named_by_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VICW_TRACES_ENDPOINT", "collector:4318")
    told = "VICW_TRACES_ENDPOINT is 'collector:4318' in the environment"
    with pytest.raises(SettingsError, match=told), named_by_variable():
        TraceSettings()


def test_traces_without_an_exporter_name_the_package_to_install() -> None:
    code = """
import sys
sys.modules["opentelemetry.exporter.otlp.proto.http.trace_exporter"] = None
from vicw_shared.errors import SettingsError
from vicw_shared.settings import TraceSettings
from vicw_runtime.telemetry.tracing import require_traces
try:
    require_traces(TraceSettings())
except SettingsError as error:
    print(error.detail)
"""
    printed = run(code, VICW_TRACES_ENDPOINT="http://127.0.0.1:4318")
    assert "install vicw[traces], or unset it" in printed
