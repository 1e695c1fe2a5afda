"""``/webhooks`` over HTTP: who may do what, and what an answer shows."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import httpx

from support.stores.memory import Memory
from vicw_shared.clock import now
from vicw_shared.model.keys import Right, mint
from vicw_shared.model.webhooks import WebhookMessage
from vicw_shared.settings import WebhookSettings
from vicw_standalone.app import create_standalone_app

BODY = '{"type": "events", "timestamp": "2026-01-19T10:00:02Z", "data": [%s]}'
EVENT = '{"id": "1-x", "kind": "stored", "at": "2026-01-19T10:00:01Z", "uid": "u", "context": "c", "count": 1}'
URL = "http://127.0.0.1:9/in"


async def test_webhooks_are_of_a_tenant_and_need_rights(memory: Memory) -> None:
    standalone = memory.standalone

    async def headers(tenant: str, *rights: Right) -> dict[str, str]:
        key, token = mint(tenant, rights, now())
        await standalone.keys.add(key)
        return {"Authorization": f"Bearer {token}"}

    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(create_standalone_app(standalone)), base_url="http://127.0.0.1", timeout=60
    ) as http:
        owner = await headers("t", Right.ADMIN, Right.RETRIEVE)
        blind, reader = await headers("t", Right.ADMIN), await headers("t", Right.RETRIEVE)
        foreign = await headers("u", Right.ADMIN, Right.RETRIEVE)
        off = await http.post("/webhooks", json={"url": URL}, headers=owner)
        assert (off.status_code, "VICW_WEBHOOKS_ENABLED" in off.json()["detail"]) == (409, True)
        standalone.settings = replace(standalone.settings, webhooks=WebhookSettings(enabled=True))
        refused = await http.post("/webhooks", json={"url": URL}, headers=owner)
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "url")
        for fields in ({"url": URL, "x": 1}, {"url": URL, "kinds": ["Stored"]}, {}):
            assert (await http.post("/webhooks", json=fields, headers=owner)).status_code == 422
        for wrong in (blind, reader):
            assert (await http.post("/webhooks", json={"url": URL}, headers=wrong)).status_code == 403
        public = await http.post("/webhooks", json={"url": "http://8.8.8.8/in", "kinds": ["stored"]}, headers=owner)
        assert public.status_code == 201, public.text
        made = public.json()
        assert made["secret"].startswith("whsec_")
        listed = (await http.get("/webhooks", headers=owner)).json()
        assert [one["id"] for one in listed["webhooks"]] == [made["id"]]
        assert listed == (await http.get("/webhooks", headers=blind)).json()
        assert made["secret"] not in str(listed)
        assert (await http.get("/webhooks", headers=foreign)).json() == {"webhooks": []}
        assert (await http.get("/webhooks", headers=reader)).status_code == 403

        hook = await standalone.graph.webhooks.webhook(made["id"])
        assert hook is not None
        dead = WebhookMessage(
            id="msg_1", body=BODY % EVENT, events=1, since=now(), next_at=now() + timedelta(days=1), dead=True, tries=8
        )
        assert await standalone.graph.webhooks.put(replace(hook, messages=(dead,)))
        path = f"/webhooks/{made['id']}"
        (message,) = (await http.get(f"{path}/dead", headers=owner)).json()["messages"]
        assert (message["id"], message["tries"], message["events"][0]["uid"]) == ("msg_1", 8, "u")
        assert (await http.get(f"{path}/dead", headers=blind)).status_code == 403, "it shows events"
        assert (await http.get(f"{path}/dead", headers=foreign)).status_code == 404
        assert (await http.post(f"{path}/replay", json={}, headers=foreign)).status_code == 404
        assert (await http.post(f"{path}/replay", json={"messages": ["x"]}, headers=owner)).status_code == 404
        assert (await http.post(f"{path}/replay", json={}, headers=owner)).json() == {"count": 1}
        (shown,) = (await http.get("/webhooks", headers=owner)).json()["webhooks"]
        assert (shown["waiting"], shown["dead"]) == (1, 0)
        for wrong, status in ((blind, 403), (foreign, 404)):
            assert (await http.post(f"{path}/secret", json={}, headers=wrong)).status_code == status
        for body in ({"overlap_hours": -1}, {"overlap_hours": 169}, {"secret": "whsec_x"}):
            assert (await http.post(f"{path}/secret", json=body, headers=owner)).status_code == 422
        rotated = (await http.post(f"{path}/secret", json={"overlap_hours": 2}, headers=owner)).json()
        assert (rotated["id"], rotated["secret"] == made["secret"]) == (made["id"], False)
        assert timedelta(hours=1) < datetime.fromisoformat(rotated["old_secret_until"]) - now() < timedelta(hours=2)
        hook = await standalone.graph.webhooks.webhook(made["id"])
        assert hook is not None and hook.secrets(now()) == [rotated["secret"], made["secret"]]
        assert hook.secrets(now() + timedelta(hours=2)) == [rotated["secret"]]
        await http.post(f"{path}/secret", json={"overlap_hours": 0}, headers=owner)
        (shown,) = (await http.get("/webhooks", headers=owner)).json()["webhooks"]
        assert shown["old_secret_until"] is None
        stats = (await http.get("/stats", headers=owner)).text
        assert made["secret"] not in stats and "8.8.8.8" not in stats
        assert (await http.delete(path, headers=foreign)).status_code == 404
        assert (await http.delete(path, headers=owner)).status_code == 204
        assert (await http.delete(path, headers=owner)).status_code == 404
        auditor = await headers("t", Right.AUDIT)
        changes = (await http.get("/audit", headers=auditor)).json()["records"]
        kinds = [one["kind"] for one in reversed(changes)]
        assert kinds == ["make-webhook", "replay", "rotate-webhook", "rotate-webhook", "remove-webhook"]
        assert len({one["key"] for one in changes}) == 1 and changes[0]["key"] in owner["Authorization"]
        assert (await http.get("/audit", headers=await headers("u", Right.AUDIT))).json()["records"] == []
