"""Agents at the separate services: they read at retrieval, which hands on what they write to ingest."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from mcp import Client, StdioServerParameters

from apart.conftest import Engines
from support.clients.mcp_client import MODES, Mode, connect, refused, succeeded
from support.fakes.token_issuer import AUDIENCE, token_issuer
from support.processes.platform import Platform, bearer
from support.processes.server import VICW

pytestmark = [pytest.mark.process, pytest.mark.timeout(600)]


@pytest.mark.parametrize("mode", MODES)
async def test_an_agent_writes_and_reads_over_http(platform: Platform, mode: Mode) -> None:
    async with connect(f"{platform.retrieval.url}/mcp/Harbour-{mode}", mode) as agent:
        assert "Remembered: agent:b1" in await succeeded(
            agent, "remember", text="The buoy of the quay is red.", id="b1"
        )
        assert "> The buoy of the quay is red." in await succeeded(agent, "recall", query="Which colour has the buoy?")
        assert "> The buoy" in await succeeded(agent, "trace", of="agent:b1")
        assert "agent:b1: retracted" in await succeeded(agent, "retract", ids=["agent:b1"])
        assert "Nothing is remembered" in await succeeded(agent, "recall", query="Which colour has the buoy?")


async def test_the_callers_key_decides_at_both_services(engines: Engines, tmp_path: Path, models_dir: Path) -> None:
    platform = Platform(
        tmp_path, models_dir, engines.neo4j.server, engines.qdrant.server, engines.redis.server, deployed=True
    )
    try:
        platform.start()
        url = f"{platform.retrieval.url}/mcp/Harbour"
        reading = bearer(platform.key("--right", "retrieve"))
        async with connect(url, headers=platform.headers) as agent, connect(url, headers=reading) as reader:
            assert "Remembered: agent:b1" in await succeeded(
                agent, "remember", text="The buoy of the quay is red.", id="b1"
            )
            assert "> The buoy of the quay is red." in await succeeded(
                reader, "recall", query="Which colour has the buoy?"
            )
            assert "does not have the right `ingest`" in await refused(reader, "remember", text="The buoy is green.")
            platform.ingest.kill()
            assert "ingest: cannot be reached" in await refused(agent, "remember", text="The buoy is green.")
            assert "> The buoy of the quay is red." in await succeeded(
                agent, "recall", query="Which colour has the buoy?"
            )
        command = StdioServerParameters(
            command=str(VICW),
            args=["mcp", "--url", platform.retrieval.url, "--context", "Harbour"],
            env=platform.variables | {"VICW_API_KEY": reading["Authorization"].removeprefix("Bearer ")},
        )
        async with Client(command) as agent:
            assert "> The buoy of the quay is red." in await succeeded(
                agent, "recall", query="Which colour has the buoy?"
            )
    finally:
        platform.close()


async def test_a_token_of_an_issuer_is_taken_by_both_services(
    engines: Engines, tmp_path: Path, models_dir: Path
) -> None:
    platform = Platform(
        tmp_path, models_dir, engines.neo4j.server, engines.qdrant.server, engines.redis.server, deployed=True
    )
    with token_issuer() as issuer:
        platform.variables |= {
            "VICW_OIDC_ISSUER": issuer.url,
            "VICW_OIDC_AUDIENCE": AUDIENCE,
            "VICW_OIDC_TENANT_CLAIM": "org",
        }
        try:
            platform.start()
            url = f"{platform.retrieval.url}/mcp/Harbour"
            async with connect(url, headers=bearer(issuer.token(org="acme"))) as agent:
                assert "Remembered: agent:b1" in await succeeded(agent, "remember", text="The buoy is red.", id="b1")
                assert "> The buoy is red." in await succeeded(agent, "recall", query="Which colour has the buoy?")
            async with connect(url, headers=bearer(issuer.token(org="other"))) as agent:
                assert "Nothing is remembered" in await succeeded(agent, "recall", query="Which colour has the buoy?")
            async with httpx.AsyncClient(trust_env=False) as http:
                for service in (platform.retrieval, platform.ingest):
                    found = await http.get(f"{service.url}/.well-known/oauth-protected-resource")
                    assert found.json()["authorization_servers"] == [issuer.url]
        finally:
            platform.close()
