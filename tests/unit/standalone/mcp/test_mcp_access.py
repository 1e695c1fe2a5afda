"""Which requests ``/mcp`` of ``vicw serve`` takes, and with which rights."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import httpx
from prometheus_client import REGISTRY

from support.clients.mcp_client import connect, refused, succeeded
from support.clients.served import serve
from support.stores.memory import open_memory
from vicw_shared.clock import now
from vicw_shared.model.keys import Right, mint
from vicw_shared.settings import ServerSettings
from vicw_standalone.app import create_standalone_app


async def test_a_key_needs_the_right_of_a_tool(store: Path) -> None:
    async with open_memory(store) as memory:
        await memory.ingest({"id": "n1", "text": "The ferry leaves at seven."}, context="Harbour")
        tokens = {}
        for rights in ((Right.RETRIEVE,), (Right.INGEST,)):
            key, tokens[rights[0]] = mint("default", rights, now())
            await memory.standalone.keys.add(key)
        foreign, foreign_token = mint("other", tuple(Right), now())
        await memory.standalone.keys.add(foreign)
        settings = memory.standalone.settings
        memory.standalone.settings = replace(settings, server=ServerSettings(host="0.0.0.0"))
        async with serve(create_standalone_app(memory.standalone)) as address:
            url = f"{address}/mcp/Harbour"
            async with httpx.AsyncClient(trust_env=False) as http:
                none = await http.post(url, json={})
            assert (none.status_code, none.json()["type"]) == (401, "urn:vicw:problem:unauthorized")
            async with connect(url, headers={"Authorization": f"Bearer {tokens[Right.RETRIEVE]}"}) as agent:
                assert "> The ferry leaves" in await succeeded(agent, "recall", query="When does the ferry leave?")
                assert "does not have the right `ingest`" in await refused(agent, "remember", text="x")
                assert "does not have the right `ingest`" in await refused(agent, "retract", ids=["n1"])
                assert "Rights: retrieve." in await succeeded(agent, "memory_status")
            async with connect(f"{address}/mcp", headers={"Authorization": f"Bearer {tokens[Right.INGEST]}"}) as agent:
                assert "Remembered" in await succeeded(agent, "remember", text="The quay is wet.", context="Harbour")
                for tool, arguments in {"recall": {"query": "x"}, "trace": {"of": "n1"}, "memory_status": {}}.items():
                    assert "does not have the right `retrieve`" in await refused(agent, tool, **arguments)
                assert "Harbour" not in await refused(agent, "remember", text="Lists nothing.")
            async with connect(url, headers={"Authorization": f"Bearer {foreign_token}"}) as agent:
                assert "Nothing is remembered" in await succeeded(agent, "recall", query="When does the ferry leave?")
                assert "unknown" in await succeeded(agent, "retract", ids=["n1"])


async def test_bodies_that_are_no_message_are_refused(url: str) -> None:
    json_header = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    modern = json_header | {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}
    async with httpx.AsyncClient(trust_env=False) as http:
        for body in (b"", b"{", b"[]", b"null", b'{"jsonrpc": "2.0", "id": 1}', b"\xff", b"[" * 100_000):
            for headers in (json_header, modern):
                answer = await http.post(url, content=body, headers=headers)
                assert 400 <= answer.status_code < 500, (body[:10], headers, answer.status_code, answer.text)
        text = await http.post(url, content=b"{}", headers={"Content-Type": "text/plain"})
        assert 400 <= text.status_code < 500
        large = await http.post(url, content=b" " * (33 * 1024 * 1024), headers=json_header)
        assert large.status_code == 413


async def test_pages_of_other_sites_and_other_methods_are_refused(url: str) -> None:
    async with httpx.AsyncClient(trust_env=False) as http:
        assert (await http.post(url, json={}, headers={"Origin": "https://evil.example"})).status_code == 403
        assert (await http.post(url, json={}, headers={"Host": "evil.example"})).status_code == 421
        assert (await http.get(url)).status_code == 405
        assert (await http.delete(url)).status_code == 405


async def test_requests_are_counted_by_their_route(url: str) -> None:
    labels = {"method": "POST", "route": "/mcp/{context:path}", "status": "200"}
    before = REGISTRY.get_sample_value("vicw_http_requests_total", labels) or 0
    async with connect(f"{url}/Harbour", "2026-07-28") as agent:
        await agent.list_tools()
    assert (REGISTRY.get_sample_value("vicw_http_requests_total", labels) or 0) > before
