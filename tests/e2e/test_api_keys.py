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


def call(server: Server, method: str, path: str, token: str, body: object = None) -> httpx.Response:
    url = server.url.replace("0.0.0.0", "127.0.0.1")
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.request(method, f"{url}{path}", json=body, headers=headers, timeout=60, trust_env=False)


def test_a_key_makes_and_revokes_keys_of_its_own_tenant_over_http(serve: Serve) -> None:
    server = serve(VICW_HOST="0.0.0.0")
    server.start()
    rights = ("--right", "admin", "--right", "retrieve")
    ana, bob = (run(server, "keys", "create", "--tenant", tenant, *rights).stdout.strip() for tenant in ("ana", "bob"))
    made = call(server, "POST", "/keys", ana, {"rights": ["retrieve"], "note": "a page"})
    assert made.status_code == 201, made.text
    new = made.json()
    assert post(server, "/retrieve", {"query": "harbour"}, new["token"]).status_code == 200
    assert call(server, "GET", "/keys", new["token"]).status_code == 403
    refused = call(server, "POST", "/keys", ana, {"rights": ["retrieve", "ingest"]})
    assert (refused.status_code, "does not have: ingest" in refused.json()["detail"]) == (403, True)

    listed = call(server, "GET", "/keys", ana).json()["keys"]
    assert [(key["rights"], key["note"]) for key in listed] == [(["retrieve", "admin"], ""), (["retrieve"], "a page")]
    assert new["token"].split("_", 2)[2] not in str(listed)
    assert len(call(server, "GET", "/keys", bob).json()["keys"]) == 1

    assert call(server, "DELETE", f"/keys/{new['id']}", bob).status_code == 404
    assert call(server, "DELETE", f"/keys/{listed[0]['id']}", ana).status_code == 409, "its own"
    revoked = call(server, "DELETE", f"/keys/{new['id']}", ana)
    assert (revoked.status_code, revoked.json()["revoked_at"] is None) == (200, False)
    assert call(server, "DELETE", f"/keys/{new['id']}", ana).status_code == 404
    assert server.stop() == 0
    server.start()
    assert post(server, "/retrieve", {"query": "harbour"}, new["token"]).status_code == 401
    listed = call(server, "GET", "/keys", ana).json()["keys"]
    assert [key["revoked_at"] is None for key in listed] == [True, False]


def test_without_a_key_no_key_is_made(serve: Serve) -> None:
    server = serve()
    server.start()
    refused = post(server, "/keys", {"rights": ["retrieve"]})
    assert (refused.status_code, "vicw keys create" in refused.json()["detail"]) == (403, True)
    assert httpx.get(f"{server.url}/keys", trust_env=False).json() == {"keys": []}
    assert run(server, "keys", "list").returncode == 0


def test_keys_list_without_a_store_fails(serve: Serve) -> None:
    server = serve()
    missing = run(server, "keys", "list")
    assert (missing.returncode, "holds no store" in missing.stderr) == (1, True)
