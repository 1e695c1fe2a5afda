"""Who is admitted, to what, as which tenant."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

import httpx
import pytest
from fastapi import APIRouter, FastAPI, Request

from support.metrics.counters import metric_increase
from vicw_runtime.http import KeyGate, create_app, tenant_of
from vicw_runtime.http.key_cache import KeyCacheLimits
from vicw_shared.errors import UnavailableError
from vicw_shared.model import EdgeRegistry
from vicw_shared.model.keys import ApiKey, Right, mint, split_token
from vicw_shared.settings import LimitSettings
from vicw_stores.data_dir import DataDir
from vicw_stores.sqlite import SqliteGraphStore
from vicw_stores.sqlite.keys import SqliteKeyRing

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
async def ring(store: Path) -> SqliteKeyRing:
    with DataDir(store) as data_dir:
        await SqliteGraphStore(data_dir, EdgeRegistry.with_core_types()).close()
    return SqliteKeyRing(store / "graph.sqlite3")


def client_behind_gate(
    ring: SqliteKeyRing,
    *,
    required: bool = True,
    fails: str | None = None,
    limits: KeyCacheLimits | None = None,
    owner_token: str | None = None,
) -> httpx.AsyncClient:
    gate = KeyGate(lambda: ring, required=required, tenant="mine", limits=limits, owner_token=lambda: owner_token)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield

    async def describe(tenant: str | None) -> dict[str, object]:
        return {"of": tenant}

    async def probe() -> None:
        raise RuntimeError(fails)

    app = create_app(
        title="t",
        description="d",
        version="1",
        limits=LimitSettings(body_bytes=1000),
        probes={"engine": probe} if fails else {},
        lifespan=lifespan,
        guard=None,
        gate=gate,
        describe=describe,
    )
    router = APIRouter(route_class=gate.route(Right.INGEST))

    @router.post("/things")
    async def post(thing: dict[str, int], request: Request) -> str:
        return tenant_of(request)

    app.include_router(router)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1")


async def add_key(ring: SqliteKeyRing, *rights: Right, tenant: str = "t") -> dict[str, str]:
    key, token = mint(tenant, rights, NOW)
    await ring.add(key)
    return {"Authorization": f"Bearer {token}"}


async def test_a_key_decides_the_tenant(ring: SqliteKeyRing) -> None:
    async with client_behind_gate(ring) as client:
        for tenant in ("t", "u"):
            headers = await add_key(ring, Right.INGEST, tenant=tenant)
            answer = await client.post("/things", json={"tenant": 1}, headers=headers)
            assert (answer.status_code, answer.json()) == (200, tenant)


async def test_requests_without_a_valid_key_get_401_before_body_parsing(ring: SqliteKeyRing) -> None:
    good = (await add_key(ring, Right.INGEST))["Authorization"]
    async with client_behind_gate(ring) as client:
        for sent in (
            None,
            "",
            "Bearer",
            "Bearer x",
            f"Basic {good}",
            f"{good}x",
            good[:-1],
            "Bearer vicw_000000000000_x",
        ):
            answer = await client.post(
                "/things", content=b"no json", headers={} if sent is None else {"Authorization": sent}
            )
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer"), sent
            assert answer.json()["type"].endswith("unauthorized")
            assert "vicw keys create" in answer.json()["detail"]
        assert (await client.post("/things", json={}, headers={"Authorization": good.replace("B", "b", 1)})).is_success


async def test_without_a_key_a_server_answers_only_to_names_of_this_machine(ring: SqliteKeyRing) -> None:
    headers = await add_key(ring, Right.INGEST)
    async with client_behind_gate(ring, required=False) as client:
        for host in ("127.0.0.1:8080", "localhost:8080", "LocalHost", "[::1]:8080"):
            assert (await client.post("/things", json={}, headers={"Host": host})).status_code == 200, host
        for host in ("page.example:8080", "127.0.0.1.page.example", "a_page.example", "192.168.1.2", "[::1", ""):
            refused = await client.post("/things", json={}, headers={"Host": host})
            assert (refused.status_code, "is called 127.0.0.1" in refused.text) == (401, True), host
            assert (await client.get("/readyz", headers={"Host": host})).json() == {
                "status": "ready",
                "dependencies": [],
            }
            assert (await client.post("/things", json={}, headers={**headers, "Host": host})).status_code == 200, host


async def test_a_key_without_the_right_is_refused(ring: SqliteKeyRing) -> None:
    headers = await add_key(ring, Right.RETRIEVE)
    async with client_behind_gate(ring) as client:
        answer = await client.post("/things", json={}, headers=headers)
        assert (answer.status_code, "`ingest`" in answer.json()["detail"]) == (403, True)
        assert "`vicw keys create --tenant t --right ingest` makes one" in answer.json()["detail"]


async def test_a_new_key_is_admitted_once_the_cached_refusal_expires(
    ring: SqliteKeyRing,
) -> None:
    key, token = mint("t", (Right.INGEST,), NOW)
    headers = {"Authorization": f"Bearer {token}"}
    limits = KeyCacheLimits()
    async with client_behind_gate(ring, limits=limits) as client:
        assert (await client.post("/things", json={}, headers=headers)).status_code == 401
        await ring.add(key)
        assert (await client.post("/things", json={}, headers=headers)).status_code == 401, "it is remembered"
        limits.cache_seconds = 0
        assert (await client.post("/things", json={}, headers=headers)).is_success
        limits.cache_seconds = 5
        assert (await client.post("/things", json={}, headers=headers)).is_success


async def test_unknown_keys_evict_no_known_key_from_the_cache(
    ring: SqliteKeyRing, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = await add_key(ring, Right.INGEST)
    asked: list[str] = []
    look_up = ring.key

    async def metric_increase(key_id: str) -> ApiKey | None:
        asked.append(key_id)
        return await look_up(key_id)

    monkeypatch.setattr(ring, "key", metric_increase)
    async with client_behind_gate(ring, limits=KeyCacheLimits(keys=2)) as client:
        assert (await client.post("/things", json={}, headers=headers)).is_success
        for _ in range(5):
            _, token = mint("t", (Right.INGEST,), NOW)
            made_up = {"Authorization": f"Bearer {token}"}
            assert (await client.post("/things", json={}, headers=made_up)).status_code == 401
        assert (await client.post("/things", json={}, headers=headers)).is_success
    assert len(asked) == 6, "the one that was made is still remembered"


async def test_refused_keys_are_counted_by_reason_and_keyless_probes_are_not(
    ring: SqliteKeyRing,
) -> None:
    reasons = ("missing", "malformed", "unknown", "right")
    refused = [metric_increase("vicw_keys_refused_total", reason=reason) for reason in reasons]
    async with client_behind_gate(ring) as client:
        await client.get("/readyz")
        assert [count() for count in refused] == [0, 0, 0, 0]
        for headers in (
            {},
            {"Authorization": "Bearer x"},
            {"Authorization": "Bearer vicw_000000000000_x"},
            await add_key(ring, Right.RETRIEVE),
        ):
            await client.post("/things", json={}, headers=headers)
    assert [count() for count in refused] == [1, 1, 1, 1]


async def test_a_revoked_key_is_refused_once_the_cache_expires(ring: SqliteKeyRing) -> None:
    headers = await add_key(ring, Right.INGEST)
    (key,) = await ring.keys()
    async with client_behind_gate(ring, limits=KeyCacheLimits(cache_seconds=0)) as client:
        assert (await client.post("/things", json={}, headers=headers)).is_success
        assert await ring.revoke(key.id, NOW)
        assert not await ring.revoke(key.id, NOW), "it holds no longer"
        assert (await client.post("/things", json={}, headers=headers)).status_code == 401
    assert (await ring.keys())[0].revoked_at == NOW


async def test_while_the_key_ring_is_down_a_known_key_is_admitted(
    ring: SqliteKeyRing, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, unknown = await add_key(ring, Right.INGEST), await add_key(ring, Right.INGEST)
    limits = KeyCacheLimits(cache_seconds=0)

    async def down(key_id: str) -> NoReturn:
        raise UnavailableError("graph", "is down")

    async with client_behind_gate(ring, limits=limits) as client:
        assert (await client.post("/things", json={}, headers=known)).is_success
        monkeypatch.setattr(ring, "key", down)
        assert (await client.post("/things", json={}, headers=known)).is_success
        assert (await client.post("/things", json={}, headers=unknown)).status_code == 503
        limits.outage_seconds = 0
        assert (await client.post("/things", json={}, headers=known)).status_code == 503


@pytest.mark.parametrize("required", [True, False])
async def test_the_owner_has_the_right_admin_alone(ring: SqliteKeyRing, required: bool) -> None:
    owner = {"Authorization": "Bearer of the owner"}
    async with client_behind_gate(ring, required=required, owner_token="of the owner") as http:
        assert (await http.get("/metrics", headers=owner)).status_code == 200
        assert (await http.post("/things", json={"a": 1}, headers=owner)).status_code == 403
        for other in ("of the", "of the owner ", "OF THE OWNER", ""):
            headers = {"Authorization": f"Bearer x{other}"}
            assert (await http.get("/metrics", headers=headers)).status_code == 401


async def test_the_owners_token_holds_on_the_servers_machine_only(ring: SqliteKeyRing) -> None:
    owner = {"Authorization": "Bearer of the owner"}
    async with client_behind_gate(ring, owner_token="of the owner") as http:
        app = http._transport.app  # type: ignore[attr-defined]
        for client, status in (("127.0.0.1", 200), ("::1", 200), ("10.0.0.7", 200), ("10.0.0.8", 401)):
            transport = httpx.ASGITransport(app, client=(client, 1))
            async with httpx.AsyncClient(transport=transport, base_url="http://10.0.0.7") as there:
                assert (await there.get("/metrics", headers=owner)).status_code == status, client


async def test_loopback_needs_no_key_but_an_invalid_key_is_refused(ring: SqliteKeyRing) -> None:
    async with client_behind_gate(ring, required=False) as client:
        assert (await client.post("/things", json={})).json() == "mine"
        assert (await client.post("/things", json={}, headers={"Authorization": "Bearer x"})).status_code == 401
        headers = await add_key(ring, Right.INGEST, tenant="u")
        assert (await client.post("/things", json={}, headers=headers)).json() == "u"


async def test_probes_without_a_key_reveal_nothing_about_stored_data(ring: SqliteKeyRing) -> None:
    reader, admin = await add_key(ring, Right.RETRIEVE), await add_key(ring, Right.ADMIN)
    async with client_behind_gate(ring) as client:
        assert (await client.get("/healthz")).is_success
        assert (await client.get("/readyz")).json() == {"status": "ready", "dependencies": []}
        told = [(await client.get("/readyz", headers=headers)).json()["of"] for headers in (reader, admin)]
        assert told == ["t", "t"], "a key is told of its tenant, whatever its rights"
        assert [(await client.get("/metrics", headers=h)).status_code for h in ({}, reader, admin)] == [401, 403, 200]
    async with client_behind_gate(ring, required=False) as client:
        told = [(await client.get("/readyz", headers=headers)).json()["of"] for headers in ({}, reader, admin)]
        assert told == [None, "t", "t"], "who needs no key may see all there is"
        assert (await client.get("/metrics")).is_success


def contents(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in folder.iterdir() if path.is_file()]


async def test_keyless_readiness_names_the_failing_dependency_not_its_reason(ring: SqliteKeyRing) -> None:
    reader = await add_key(ring, Right.RETRIEVE)
    async with client_behind_gate(ring, fails="bolt://10.0.0.7 refused") as client:
        told = [(await client.get("/readyz", headers=headers)).json()["failing"] for headers in ({}, reader)]
        assert told == [{"engine": "does not work"}, {"engine": "bolt://10.0.0.7 refused"}]


async def test_only_the_digest_of_a_key_is_stored(ring: SqliteKeyRing, store: Path) -> None:
    key, token = mint("t", (Right.RETRIEVE, Right.INGEST), NOW, "for tests")
    await ring.add(key)
    assert await ring.key(key.id) == key
    assert await ring.key("none") is None
    parts = split_token(token)
    assert parts is not None
    assert key.rights == (Right.INGEST, Right.RETRIEVE)
    assert not any(parts[1].encode() in content for content in contents(store))
