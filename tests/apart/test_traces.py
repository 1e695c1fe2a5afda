"""One request is one trace, through all processes that take part; a real collector is sent it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from apart.conftest import Prepared
from support.fakes.otlp_collector import Collector, Seen, collecting
from support.processes.platform import Platform
from support.processes.server import eventually

pytestmark = pytest.mark.process
_CALLER = "b7ad6b7169203331"
_TEXT = "The heron counted ninety secrets."


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    with collecting() as started:
        yield started


@pytest.fixture(scope="module")
def traced(collector: Collector, prepared: Prepared, models_dir: Path) -> Iterator[Platform]:
    """The services with traces on, in an environment that invites libraries to send theirs, too."""
    with prepared(models_dir) as made:
        made.variables |= {
            "VICW_TRACES_ENDPOINT": collector.url,
            "OTEL_BSP_SCHEDULE_DELAY": "200",
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
            "FASTAPI_OTEL_AUTO_CONFIGURE": "true",
        }
        made.start()
        yield made


def post(url: str, path: str, trace: str, body: dict[str, object]) -> httpx.Response:
    headers = {"traceparent": f"00-{trace}-{_CALLER}-01"}
    return httpx.post(url + path, json=body, headers=headers, timeout=60, trust_env=False).raise_for_status()


def require_parents_in_trace(spans: list[Seen]) -> None:
    """Every span has its parent in the trace, up to the caller's."""
    known = {span.id for span in spans} | {_CALLER}
    assert [span.name for span in spans if span.parent not in known] == []


def test_an_ingest_is_one_trace_from_the_caller_to_the_model(traced: Platform, collector: Collector) -> None:
    worker = traced.worker().start()
    trace = "1" * 32
    body = {"context": "traced", "items": [{"id": "t", "text": _TEXT}], "wait": False}
    job = post(traced.ingest.url, "/ingest", trace, body).json()["job"]
    eventually(lambda: traced.job(job)["status"], lambda status: status == "done", 60, "the job")
    expected = {
        ("vicw-ingest", "POST /ingest"),
        ("vicw-ingest", "ingest.check"),
        ("vicw-ingest", "ingest.commit"),
        ("vicw-ingest", "neo4j.write"),
        ("vicw-ingest", "neo4j.write.lock"),
        ("vicw-ingest", "send vicw.ingest.index"),
        ("vicw-ingest-worker", "vicw.ingest.index"),
        ("vicw-ingest-worker", "index.claim"),
        ("vicw-ingest-worker", "index.batch"),
        ("vicw-ingest-worker", "index.embed"),
        ("vicw-ingest-worker", "embedding.embed"),
        ("vicw-ingest-worker", "qdrant.upsert"),
        ("vicw-ingest-worker", "index.settle"),
        ("vicw-embedding", "POST /v1/embeddings"),
        ("vicw-embedding", "embed.bulk"),
    }
    eventually(
        lambda: expected - {(s.service, s.name) for s in collector.of(trace)},
        lambda missing: not missing,
        30,
        "all spans",
    )
    spans = collector.of(trace)
    require_parents_in_trace(spans)
    by_name = {(span.service, span.name): span for span in spans}
    assert by_name["vicw-ingest", "POST /ingest"].parent == _CALLER
    sent = by_name["vicw-ingest", "send vicw.ingest.index"]
    assert by_name["vicw-ingest-worker", "vicw.ingest.index"].parent == sent.id
    asked = by_name["vicw-ingest-worker", "embedding.embed"]
    assert by_name["vicw-embedding", "POST /v1/embeddings"].parent == asked.id
    assert f'"trace_id": "{trace}"' in traced.ingest.log, "lines of the log name the trace"
    assert worker.stop() == 0


def test_retrieve_spans_name_stages_but_no_question_or_stored_text(traced: Platform, collector: Collector) -> None:
    item = {"context": "traced", "items": [{"id": "w", "text": _TEXT, "speaker": "Ninetynine"}], "wait": True}
    post(traced.ingest.url, "/ingest", "2" * 32, item)
    trace = "3" * 32
    post(traced.retrieval.url, "/retrieve", trace, {"query": "who counted ninety secrets?"})
    stages = {
        f"retrieve.{name}" for name in ("embed", "channels", "cross_score", "fuse", "domain", "expand", "synthesize")
    }
    expected = stages | {
        "POST /retrieve",
        "channel.dense",
        "channel.bm25",
        "qdrant.search",
        "neo4j.owners",
        "embed.query",
    }
    eventually(lambda: expected - {s.name for s in collector.of(trace)}, lambda missing: not missing, 30, "all spans")
    require_parents_in_trace(collector.of(trace))
    waited = {span.name for span in collector.of("2" * 32)}
    assert {"ingest.wait", "index.batch", "qdrant.upsert", "embed.bulk"} <= waited
    for word in ("ninety", "secrets", "Ninetynine", "heron"):
        assert word.lower() not in collector.text.lower()
    assert collector.paths == {"/v1/traces"}
    assert {span.scope for span in collector.spans} == {"vicw"}


def test_a_stopping_service_sends_its_remaining_spans(traced: Platform, collector: Collector) -> None:
    slow = traced.add("slow", "vicw_retrieval", OTEL_BSP_SCHEDULE_DELAY="60000").start()
    trace = "4" * 32
    post(slow.url, "/retrieve", trace, {"query": "anything"})
    assert "POST /retrieve" not in {span.name for span in collector.of(trace)}
    assert slow.stop() == 0
    assert "POST /retrieve" in {span.name for span in collector.of(trace)}
