"""Tokens of an issuer at ``vicw serve``: the API, ``/mcp``, and what leads a client to the issuer."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.clients.mcp_client import connect, refused, succeeded
from support.clients.served import serve
from support.fakes.token_issuer import AUDIENCE, TokenIssuer, token_issuer
from support.stores.memory import Memory, open_memory
from vicw_shared.clock import now
from vicw_shared.model.keys import Right, mint
from vicw_shared.settings import OidcSettings, ServerSettings
from vicw_standalone.app import create_standalone_app

WELL_KNOWN = "/.well-known/oauth-protected-resource"


@pytest.fixture
def issuer() -> Iterator[TokenIssuer]:
    with token_issuer() as served:
        yield served


@pytest.fixture
async def memory(store: Path) -> AsyncIterator[Memory]:
    async with open_memory(store) as opened:
        opened.tenant = "acme"
        await opened.ingest({"id": "n1", "text": "The ferry to Sunde leaves at seven."}, context="Harbour")
        yield opened


@pytest.fixture
async def url(memory: Memory, issuer: TokenIssuer) -> AsyncIterator[str]:
    oidc = OidcSettings(issuer=issuer.url, audience=AUDIENCE, tenant_claim="org")
    settings = replace(memory.standalone.settings, server=ServerSettings(host="0.0.0.0"), oidc=oidc)
    memory.standalone.settings = settings
    async with serve(create_standalone_app(memory.standalone)) as address:
        yield address


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def test_an_agent_uses_the_memory_of_its_tokens_tenant(url: str, issuer: TokenIssuer) -> None:
    async with connect(f"{url}/mcp/Harbour", headers=bearer(issuer.token(org="acme"))) as agent:
        assert "> The ferry to Sunde" in await succeeded(agent, "recall", query="When does the ferry to Sunde leave?")
        assert "Remembered" in await succeeded(agent, "remember", text="The quay is wet.")
        assert "Rights: ingest, retrieve." in await succeeded(agent, "memory_status")
    async with connect(f"{url}/mcp/Harbour", headers=bearer(issuer.token(org="other"))) as agent:
        assert "Nothing is remembered" in await succeeded(agent, "recall", query="When does the ferry to Sunde leave?")
    reader = issuer.token(org="acme", scope="vicw:retrieve")
    async with connect(f"{url}/mcp/Harbour", headers=bearer(reader)) as agent:
        assert "no scope that gives the right `ingest`" in await refused(agent, "remember", text="x")


async def test_the_api_takes_tokens_beside_keys(url: str, issuer: TokenIssuer, memory: Memory) -> None:
    key, secret = mint("acme", (Right.RETRIEVE,), now())
    await memory.standalone.keys.add(key)
    question = {"query": "When does the ferry leave?", "context": "Harbour"}
    async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
        for token in (secret, issuer.token(org="acme")):
            answer = await http.post("/retrieve", json=question, headers=bearer(token))
            assert [one["id"] for one in answer.json()["results"]] == ["n1"]
        stored = {"context": "Harbour", "items": [{"id": "n2", "text": "The quay is wet."}]}
        no_scope = await http.post(
            "/ingest", json=stored, headers=bearer(issuer.token(org="acme", scope="vicw:retrieve"))
        )
        assert (no_scope.status_code, "`ingest`" in no_scope.json()["detail"]) == (403, True)
        assert 'error="insufficient_scope", scope="vicw:ingest"' in no_scope.headers["www-authenticate"]
        no_right = await http.post("/ingest", json=stored, headers=bearer(secret))
        assert (no_right.status_code, "www-authenticate" in no_right.headers) == (403, False)
        assert (await http.post("/ingest", json=stored, headers=bearer(issuer.token(org="acme")))).is_success
        assert (
            await http.get("/metrics", headers=bearer(issuer.token(org="acme", scope="vicw:admin")))
        ).status_code == 403
        taken_back = {"context": "Harbour", "ids": ["n2"]}
        assert (await http.post("/items/retract", json=taken_back, headers=bearer(issuer.token(org="acme")))).is_success
        audit = await http.get("/audit", headers=bearer(issuer.token(org="acme", scope="vicw:audit")))
        assert audit.json()["records"][0]["key"] == "oidc:ana"


@pytest.mark.parametrize("claims", [{"org": "acme", "scope": "openid"}, {}])
async def test_a_token_without_scope_or_tenant_gets_403_that_says_so(
    url: str, issuer: TokenIssuer, claims: dict[str, Any]
) -> None:
    async with httpx.AsyncClient(trust_env=False) as http:
        answer = await http.post(f"{url}/mcp", json={}, headers=bearer(issuer.token(**claims)))
    assert answer.status_code == 403
    assert "vicw:ingest" in answer.json()["detail"] or "names no tenant" in answer.json()["detail"]


async def test_a_token_makes_no_key_that_outlives_it_and_revokes_one(memory: Memory, issuer: TokenIssuer) -> None:
    oidc = OidcSettings(issuer=issuer.url, audience=AUDIENCE, scopes="vicw:admin=admin, vicw:retrieve=retrieve")
    memory.standalone.settings = replace(memory.standalone.settings, server=ServerSettings(host="0.0.0.0"), oidc=oidc)
    transport = httpx.ASGITransport(create_standalone_app(memory.standalone))
    key, secret = mint("default", (Right.ADMIN, Right.RETRIEVE), now())
    await memory.standalone.keys.add(key)
    admin = bearer(issuer.token(scope="vicw:admin vicw:retrieve"))
    wanted = {"rights": ["retrieve"]}
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
        refused = await http.post("/keys", json=wanted, headers=admin)
        assert (refused.status_code, "vicw keys create" in refused.json()["detail"]) == (403, True)
        assert "www-authenticate" not in refused.headers, "no other scope would help"
        made = (await http.post("/keys", json=wanted, headers=bearer(secret))).raise_for_status().json()
        listed = (await http.get("/keys", headers=admin)).json()["keys"]
        assert [one["id"] for one in listed] == [key.id, made["id"]], "by the token nothing was made"
        assert (await http.delete(f"/keys/{made['id']}", headers=admin)).status_code == 200
        assert (await http.get("/items", headers=bearer(made["token"]))).status_code == 401


async def test_a_refusal_leads_to_the_issuer(url: str, issuer: TokenIssuer) -> None:
    async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
        for path in ("/mcp", "/mcp/My%20Harbour"):
            none = await http.post(path, json={})
            challenge = none.headers["www-authenticate"]
            assert (none.status_code, "error=" in challenge) == (401, False)
            (metadata_url,) = re.findall(r'resource_metadata="([^"]+)"', challenge)
            assert 'scope="vicw:ingest vicw:retrieve"' in challenge
            metadata = (await http.get(metadata_url)).raise_for_status().json()
            assert metadata == {
                "resource": url + path,
                "resource_name": "VICW",
                "authorization_servers": [issuer.url],
                "bearer_methods_supported": ["header"],
                "scopes_supported": ["vicw:ingest", "vicw:retrieve", "vicw:erase", "vicw:audit"],
            }
        expired = await http.post("/mcp", json={}, headers=bearer(issuer.token(org="acme", exp=1)))
        assert (expired.status_code, "has expired" in expired.json()["detail"]) == (401, True)
        assert 'error="invalid_token"' in expired.headers["www-authenticate"]
        assert (await http.get(WELL_KNOWN)).json()["resource"] == url
        assert (await http.get(f"{WELL_KNOWN}/elsewhere")).status_code == 404
        assert f'resource_metadata="{url}{WELL_KNOWN}"' in (await http.get("/items")).headers["www-authenticate"]


async def test_metadata_names_the_address_of_the_setting(memory: Memory, issuer: TokenIssuer) -> None:
    oidc = OidcSettings(
        issuer=issuer.url,
        audience=AUDIENCE,
        public_url="https://memory.example.org/",
        scope_claim="realm_access.roles",
    )
    memory.standalone.settings = replace(memory.standalone.settings, server=ServerSettings(host="0.0.0.0"), oidc=oidc)
    app = create_standalone_app(memory.standalone)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://inside") as http:
        refusal = (await http.post("/mcp", json={})).headers["www-authenticate"]
        assert refusal == f'Bearer resource_metadata="https://memory.example.org{WELL_KNOWN}/mcp"', (
            "roles are not asked for"
        )
        metadata = (await http.get(f"{WELL_KNOWN}/mcp")).json()
        assert (metadata["resource"], "scopes_supported" in metadata) == ("https://memory.example.org/mcp", False)


async def test_while_the_issuer_is_away_tokens_get_503_and_keys_work(
    url: str, issuer: TokenIssuer, memory: Memory
) -> None:
    issuer.status = 500
    key, secret = mint("acme", (Right.RETRIEVE,), now())
    await memory.standalone.keys.add(key)
    async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
        away = await http.post("/mcp", json={}, headers=bearer(issuer.token(org="acme")))
        assert (away.status_code, away.headers["retry-after"]) == (503, "10")
        assert away.json()["type"] == "urn:vicw:problem:dependency-unavailable"
        assert (await http.get("/items", headers=bearer(secret))).is_success
        ready = await http.get("/readyz", headers=bearer(secret))
        assert (ready.status_code, "status 500" in ready.json()["failing"]["issuer"]) == (200, True)


async def test_without_an_issuer_there_is_no_metadata_and_no_token_is_admitted(
    memory: Memory, issuer: TokenIssuer
) -> None:
    memory.standalone.settings = replace(memory.standalone.settings, server=ServerSettings(host="0.0.0.0"))
    app = create_standalone_app(memory.standalone)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as http:
        refusal = await http.post("/mcp", json={}, headers=bearer(issuer.token()))
        assert (refusal.status_code, refusal.headers["www-authenticate"]) == (401, "Bearer")
        assert (await http.get(WELL_KNOWN)).status_code == 404
    assert issuer.asked == []
