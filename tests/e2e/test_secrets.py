"""A pasted key: masked or refused over HTTP, and nowhere to be read afterwards."""

from __future__ import annotations

import httpx
import pytest

from e2e.conftest import Serve
from support.api.problems import refused
from support.generators.secrets import GITHUB_TOKEN, PASSWORD, TOKEN

pytestmark = pytest.mark.process

_METADATA = {"config": {"api_key": TOKEN}}
_ITEMS = [
    {"id": "a", "text": "An item without a secret."},
    {"id": "b", "text": f"Push with {GITHUB_TOKEN}; the password is {PASSWORD}.", "metadata": _METADATA},
]
_SECRETS = (GITHUB_TOKEN, PASSWORD, TOKEN)


@pytest.mark.parametrize("wait", [True, False])
def test_secrets_are_masked_and_reported_by_field_and_kind(serve: Serve, wait: bool) -> None:
    server = serve(VICW_LOG_LEVEL="debug")
    server.start()
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as http:
        answer = http.post("/ingest", json={"context": "chat", "items": _ITEMS, "wait": wait})
        assert answer.status_code == (201 if wait else 202)
        first, second = answer.json()["items"]
        assert first["masked"] == []
        assert second["masked"] == [
            {"field": "items[1].text", "kind": "github-token"},
            {"field": "items[1].text", "kind": "password"},
            {"field": "items[1].metadata.config.api_key", "kind": "api-key"},
        ]
        figures = http.get("/metrics").text
    assert 'vicw_ingest_secrets_total{kind="github-token",outcome="masked"} 1.0' in figures
    assert server.stop() == 0
    kept = [path.read_bytes() for path in server.data_dir.rglob("*") if path.is_file()] + [server.log.encode()]
    assert not any(secret.encode() in content for secret in _SECRETS for content in kept)


def test_secrets_are_refused_when_the_setting_is_refuse(serve: Serve) -> None:
    server = serve(VICW_INGEST_SECRETS="refuse", VICW_LOG_LEVEL="debug")
    server.start()
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as http:
        problem = refused(http, "/ingest", {"context": "chat", "items": _ITEMS})
        assert [(error["field"], error["problem"]) for error in problem["errors"]] == [
            ("items[1].text", "contains a secret (github-token)"),
            ("items[1].text", "contains a secret (password)"),
            ("items[1].metadata.config.api_key", "contains a secret (api-key)"),
        ]
        assert http.post("/retrieve", json={"query": "An item without a secret."}).json()["results"] == []
    assert server.stop() == 0
    assert not any(secret in told for secret in _SECRETS for told in (str(problem), server.log))


def test_a_secret_in_an_id_is_refused_and_not_repeated(serve: Serve) -> None:
    server = serve()
    server.start()
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as http:
        twice = [{"id": GITHUB_TOKEN, "text": "x"}, {"id": GITHUB_TOKEN, "text": "y"}]
        for items in (twice[:1], twice):
            problem = refused(http, "/ingest", {"context": "chat", "items": items})
            assert [error["field"] for error in problem["errors"]] == [f"items[{len(items) - 1}].id"]
            assert GITHUB_TOKEN not in str(problem)
    assert server.stop() == 0
