"""``GET /audit``: the key of each change, and who may read it."""

from __future__ import annotations

import httpx

from support.stores.memory import Memory
from vicw_shared.clock import now
from vicw_shared.model.keys import Right, mint
from vicw_standalone.app import create_standalone_app


async def test_a_change_has_the_id_of_its_key_and_is_read_with_a_right_of_its_own(memory: Memory) -> None:
    async def headers(tenant: str, *rights: Right) -> tuple[str, dict[str, str]]:
        key, token = mint(tenant, rights, now())
        await memory.standalone.keys.add(key)
        return key.id, {"Authorization": f"Bearer {token}"}

    transport = httpx.ASGITransport(create_standalone_app(memory.standalone))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60) as http:
        writer, writes = await headers("t", Right.INGEST, Right.RETRIEVE, Right.ADMIN)
        eraser, erases = await headers("t", Right.ERASE)
        _, reads = await headers("t", Right.AUDIT)
        _, foreign = await headers("u", Right.AUDIT)
        item = {"id": "a", "text": "The gate code is on the fridge."}
        uid = (await http.post("/ingest", json={"context": "c", "items": [item]}, headers=writes)).json()["items"][0][
            "uid"
        ]
        assert (await http.patch(f"/items/{uid}", json={"tags": ["gate"]}, headers=writes)).status_code == 200
        update = {"context": "c", "items": [item | {"text": "The gate code is gone."}]}
        assert (await http.post("/ingest", json=update, headers=writes)).status_code == 201
        assert (await http.post("/items/retract", json={"uids": [uid]}, headers=writes)).status_code == 200
        assert (await http.post("/forget", json={"items": [uid]}, headers=erases)).json()["status"] == "done"
        page = (await http.get("/audit", headers=reads)).json()
        assert [(one["kind"], one["key"], one["count"]) for one in page["records"]] == [
            ("erase", eraser, 1),
            ("retract", writer, 1),
            ("update", writer, 1),
            ("patch", writer, 1),
        ]
        assert "gate" not in str(page)
        assert (await http.get("/audit", headers=foreign)).json() == {"records": [], "next": None}
        assert (await http.get("/audit", headers=writes)).status_code == 403
        assert (await http.get("/audit?after=x", headers=reads)).json()["errors"][0]["field"] == "after"
