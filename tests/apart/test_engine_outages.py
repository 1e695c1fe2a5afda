"""Engines that go away while the services run, and come back."""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import httpx
import pytest

from apart.conftest import Engines
from support.processes.platform import Platform, bearer
from support.processes.server import eventually

pytestmark = [pytest.mark.process, pytest.mark.timeout(600)]
_REMEMBERED_SECONDS = 5.0
_GRAPH_SECONDS = 2.0
"""VICW_RETRIEVAL_GRAPH_MS: what one request may wait for a graph that is down."""


def get_readiness(url: str) -> tuple[int, dict[str, Any]]:
    answer = httpx.get(f"{url}/readyz", timeout=30, trust_env=False)
    return answer.status_code, answer.json()


def test_services_survive_the_outage_of_each_engine_and_recover(fragile: Platform, engines: Engines) -> None:
    items: list[dict[str, Any]] = [
        {"id": "public", "text": "The harbour was closed by fog."},
        {"id": "private", "text": "The harbour master was bribed.", "sensitivity": "personal", "about": ["Ana"]},
    ]
    assert fragile.remember(*items).status_code == 201
    assert set(fragile.found("harbour")) == {"public", "private"}

    engines.redis.kill()
    status, told = get_readiness(fragile.ingest.url)
    assert (status, told["status"], set(told["failing"])) == (200, "ready", {"queue"}), "it is named, and goes on"
    assert get_readiness(fragile.retrieval.url)[1].keys() & {"failing"} == set(), "questions need no queue"
    assert fragile.remember({"id": "no queue", "text": "A gull sat on the mast."}).status_code == 201
    assert fragile.found("gull", limit=1) == ["no queue"]
    later = fragile.remember({"id": "later", "text": "A seal swam by."}, wait=False)
    assert later.status_code == 202, "durable in the graph; workers look by themselves"
    engines.redis.restart()
    assert "failing" not in get_readiness(fragile.ingest.url)[1]

    engines.qdrant.kill()
    answer = fragile.ask("harbour fog").raise_for_status().json()
    lost = set(answer["degraded"]) - {"pending"}  # "later" may still wait for its vectors
    assert (answer["results"][0]["id"], lost) == ("public", {"bm25", "dense"})
    assert answer["results"][0]["channels"][0]["channel"] == "fulltext"
    insisting = fragile.ask("harbour fog", channels=["dense"])
    assert (insisting.status_code, insisting.json()["dependency"]) == (503, "vectors")
    unseen = fragile.remember({"id": "no vectors", "text": "A whale was seen."}, wait=False)
    assert unseen.status_code == 202
    engines.qdrant.restart()
    eventually(lambda: fragile.ask("harbour").json().get("degraded"), lambda said: said == [], 30, "Qdrant is back")

    engines.neo4j.kill()
    refused = fragile.remember({"id": "no graph", "text": "A storm came up."})
    assert (refused.status_code, refused.headers["content-type"]) == (503, "application/problem+json")
    assert refused.json()["detail"].startswith("graph:")
    answer = fragile.ask("harbour").raise_for_status().json()
    assert ([r["id"] for r in answer["results"]][:1], answer["degraded"]) == (["public"], ["graph"])
    assert "private" not in [result["id"] for result in answer["results"]]
    engines.neo4j.restart()
    eventually(lambda: fragile.ask("harbour").json().get("degraded"), lambda said: said == [], 60, "Neo4j is back")

    fragile.worker().start()
    fragile.beat().start()
    for job in (later.json()["job"], unseen.json()["job"]):
        eventually(lambda job=job: fragile.job(job)["status"], lambda status: status == "done", 60, "the job")  # type: ignore[misc]
    assert {"later", "no vectors"} <= set(fragile.found("a seal and a whale", limit=10))
    assert "no graph" not in fragile.found("storm", limit=10), "what was refused is not stored"


def test_key_checks_do_not_delay_requests_while_the_graph_is_down(fragile: Platform, engines: Engines) -> None:
    known, unused = fragile.headers, bearer(fragile.key())
    assert fragile.remember({"id": "fog", "text": "The harbour was closed by fog."}).status_code == 201
    assert fragile.found("harbour") == ["fog"]
    engines.neo4j.kill()
    time.sleep(_REMEMBERED_SECONDS + 1)  # until then the last look-up stands
    fragile.ask("harbour").raise_for_status()  # this one may wait: it finds out

    answers, seconds = _ask_timed(fragile, known, 9)
    assert [answer.status_code for answer in answers] == [200] * 9
    for answer in (answer.json() for answer in answers):
        assert ([result["id"] for result in answer["results"]], "graph" in answer["degraded"]) == (["fog"], True)
    assert median(seconds) < _GRAPH_SECONDS, seconds
    refused, seconds = _ask_timed(fragile, unused, 5)
    assert [answer.status_code for answer in refused] == [503] * 5
    assert refused[0].headers["content-type"] == "application/problem+json"
    assert refused[0].json()["detail"].startswith("keys:")
    assert median(seconds) < _GRAPH_SECONDS, seconds

    engines.neo4j.restart()
    eventually(
        lambda: _ask_timed(fragile, unused, 1)[0][0].status_code, lambda status: status == 200, 60, "it is known"
    )


def _ask_timed(platform: Platform, headers: dict[str, str], times: int) -> tuple[list[httpx.Response], list[float]]:
    """Return the answers to one question after the other, and how long each took."""
    answers, seconds = [], []
    for _ in range(times):
        began = time.monotonic()
        url = f"{platform.retrieval.url}/retrieve"
        answers.append(httpx.post(url, json={"query": "harbour"}, headers=headers, timeout=90, trust_env=False))
        seconds.append(time.monotonic() - began)
    return answers, seconds
