"""The separate services do together what the one process does."""

from __future__ import annotations

import httpx
import pytest

from support.processes.platform import Platform, bearer
from support.processes.server import eventually

pytestmark = pytest.mark.process


def test_retrieval_finds_what_ingest_stored(platform: Platform) -> None:
    turns = [
        {"id": "t1", "text": "The build broke when we upgraded numpy.", "speaker": "Ana"},
        {"id": "t2", "text": "I pinned numpy and it was green again.", "speaker": "Ben"},
    ]
    stored = platform.remember(*turns, flow_id="f", context="chat")
    assert (stored.status_code, [item["flow_step"] for item in stored.json()["items"]]) == (201, [1, 2])
    answer = platform.ask("why did the build break?").raise_for_status().json()
    assert answer["results"][0]["id"] == "t1"
    assert {"NEXT", "INITIATED", "EVIDENCED_BY"} <= {edge["type"] for edge in answer["graph"]["edges"]}
    assert answer["degraded"] == []
    assert platform.remember(*turns, flow_id="f", context="chat").json()["items"][0]["status"] == "unchanged"


def test_graph_endpoints_are_served_by_retrieval(platform: Platform) -> None:
    people = [{"name": name, "subtype": "person"} for name in ("Ben", "Clara")]
    sister = {"source": "Ben", "type": "HAS_RELATIONSHIP", "target": "Clara", "desc": "sister"}
    told = {"entities": people, "relations": [sister]}
    item = {"id": "g1", "text": "The mill stopped because the river was dry.", "speaker": "Ben", "extraction": told}
    platform.remember(item, flow_id="mill", context="mill", extract="rules").raise_for_status()
    body = {"start": ["g1"], "context": "mill", "types": {"include": ["CAUSED"]}, "direction": "in"}
    url = f"{platform.retrieval.url}/graph/walk"
    answer = httpx.post(url, json=body, headers=platform.headers, timeout=90, trust_env=False).raise_for_status().json()
    assert {edge["type"] for edge in answer["edges"]} == {"CAUSED"}
    shown = platform.vicw("graph", "show", "--people", "--context", "mill", "--url", platform.retrieval.url)
    assert '-->|"sister"|' in shown.stdout, shown.stderr
    wrong = platform.vicw("graph", "show", "g1", "--url", platform.ingest.url)
    assert "VICW_RETRIEVE_URL" in wrong.stderr


def test_a_job_is_done_by_a_worker(platform: Platform) -> None:
    answer = platform.remember({"id": "job", "text": "The lighthouse burned at noon."}, wait=False)
    assert answer.status_code == 202
    job = answer.json()["job"]
    assert platform.job(job)["status"] == "running"
    worker = platform.worker().start()
    eventually(lambda: platform.job(job)["status"], lambda status: status == "done", 30, "the job")
    assert platform.found("lighthouse", limit=1) == ["job"]
    request_id = answer.headers["x-request-id"]
    assert request_id in worker.log, "the request's id is in the worker's log"
    assert worker.stop() == 0


@pytest.mark.parametrize("name", ["ingest", "retrieval"])
def test_health_readiness_and_metrics_endpoints_answer(platform: Platform, name: str) -> None:
    url = getattr(platform, name).url
    assert httpx.get(f"{url}/healthz", trust_env=False).json() == {"status": "alive"}
    ready = httpx.get(f"{url}/readyz", trust_env=False, timeout=10).json()
    assert (ready["status"], {"embedding", "graph", "vectors"} <= set(ready["dependencies"])) == ("ready", True)
    assert "vicw_http_requests_total" in httpx.get(f"{url}/metrics", trust_env=False).text


def test_platform_keys_authenticate_separate_tenants_and_can_be_revoked(platform: Platform) -> None:
    url = platform.add("closed", "vicw_retrieval", VICW_HOST="0.0.0.0").start().url
    platform.remember({"id": "mine", "text": "A seal on the pier."})

    def ask(token: str | None) -> httpx.Response:
        headers = bearer(token) if token else {}
        return httpx.post(f"{url}/retrieve", json={"query": "seal"}, headers=headers, timeout=60, trust_env=False)

    assert ask(None).status_code == 401
    tokens = [platform.key("--tenant", tenant) for tenant in ("default", "other")]
    found = [[r["id"] for r in ask(token).raise_for_status().json()["results"]] for token in tokens]
    assert ("mine" in found[0], found[1]) == (True, [])
    listed = platform.vicw("keys", "list", "--platform").stdout
    assert all(token.split("_", 2)[1] in listed for token in tokens)
    assert platform.vicw("keys", "revoke", tokens[0].split("_", 2)[1], "--platform").returncode == 0
    eventually(lambda: ask(tokens[0]).status_code, lambda status: status == 401, 15, "the key is worthless")


def test_the_embedding_server_refuses_services_without_the_shared_secret(platform: Platform) -> None:
    models = f"{platform.embedding.url}/v1/models"
    asked = [httpx.get(models, headers=h, trust_env=False) for h in ({}, bearer("guess"), bearer(platform.secret))]
    assert [answer.status_code for answer in asked] == [401, 401, 200]
    stranger = platform.add("stranger", "vicw_retrieval", VICW_EMBEDDING_API_KEY="guess")
    with pytest.raises(AssertionError, match=r"answered 401.*VICW_EMBEDDING_API_KEY"):
        stranger.start()


def test_check_is_clean_after_platform_ingest(platform: Platform) -> None:
    platform.remember({"id": "clean", "text": "An egg."}, {"id": "clean2", "text": "A spoon."}, flow_id="f")
    worker = platform.worker().start()
    beat = platform.beat().start()
    eventually(lambda: platform.vicw("check", "--platform").stdout, lambda said: ", 0 waiting" in said, 60, "all done")
    checked = platform.vicw("check", "--platform")
    assert (checked.returncode, checked.stdout.splitlines()[-1]) == (0, "clean"), checked.stdout + checked.stderr
    for service in (worker, beat):
        service.kill()
