"""A server that others can reach asks for keys, which are made and revoked while it runs."""

from __future__ import annotations

import httpx
import pytest

from e2e.conftest import Serve
from support.processes.server import Server, run

pytestmark = pytest.mark.process
ITEM = {"context": "c", "items": [{"id": "a", "text": "the harbour at night"}]}


def post(server: Server, path: str, body: object, token: str | None = None) -> httpx.Response:
    url = server.url.replace("0.0.0.0", "127.0.0.1")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.post(f"{url}{path}", json=body, headers=headers, timeout=60, trust_env=False)


def test_a_server_on_a_public_address_requires_an_api_key(serve: Serve) -> None:
    server = serve(VICW_HOST="0.0.0.0")
    server.start()
    assert "vicw keys create" in server.log
    assert post(server, "/ingest", ITEM).status_code == 401
    assert post(server, "/retrieve", {"query": "harbour"}).status_code == 401

    tokens = {}
    for tenant in ("ana", "bob"):
        made = run(server, "keys", "create", "--tenant", tenant, "--note", f"for {tenant}")
        assert made.returncode == 0, made.stderr
        tokens[tenant] = made.stdout.strip()
    assert post(server, "/ingest", ITEM, tokens["ana"]).status_code == 201

    def found(tenant: str) -> list[str]:
        answer = post(server, "/retrieve", {"query": "harbour"}, tokens[tenant])
        return [result["id"] for result in answer.raise_for_status().json()["results"]]

    assert (found("ana"), found("bob")) == (["a"], [])

    listed = run(server, "keys", "list").stdout
    key_id = next(line.split()[0] for line in listed.splitlines() if "for ana" in line)
    assert tokens["ana"].split("_", 2)[2] not in listed
    assert run(server, "keys", "revoke", key_id).returncode == 0
    assert run(server, "keys", "revoke", key_id).returncode == 1
    assert server.stop() == 0
    server.start()
    assert post(server, "/retrieve", {"query": "harbour"}, tokens["ana"]).status_code == 401


def test_keys_list_without_a_store_fails(serve: Serve) -> None:
    server = serve()
    missing = run(server, "keys", "list")
    assert (missing.returncode, "holds no store" in missing.stderr) == (1, True)
