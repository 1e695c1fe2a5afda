"""The public MCP inspector lists and calls what agents get, over HTTP and over stdio."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from support.clients.mcp_inspector import McpInspector
from support.processes.server import VICW, Server

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("inspected")
    running = Server(folder / "data", folder / "models")
    running.start()
    yield running
    assert running.stop(within=15) == 0


TOOLS = ["recall", "remember", "retract", "trace", "memory_status"]


def use(inspector: McpInspector, target: list[str], name: str, **arguments: str) -> str:
    """Return the text of a tool that succeeded."""
    pairs = [part for key, value in arguments.items() for part in ("--tool-arg", f"{key}={value}")]
    answer = inspector.call(target, "--method", "tools/call", "--tool-name", name, *pairs)
    assert not answer.get("isError"), answer
    (block,) = answer["content"]
    assert answer["structuredContent"]["text"] == block["text"]
    return str(block["text"])


def test_the_public_inspector_lists_and_calls_everything_over_http(mcp_inspector: McpInspector, server: Server) -> None:
    target = [f"{server.url}/mcp/Harbour", "--transport", "http"]
    tools = mcp_inspector.call(target, "--method", "tools/list")["tools"]
    assert [tool["name"] for tool in tools] == TOOLS
    assert all(tool["annotations"] and tool["outputSchema"] for tool in tools)
    text = "The buoy of the quay is red."
    assert "Remembered: agent:b1" in use(mcp_inspector, target, "remember", text=text, id="b1")
    assert f"> {text}" in use(mcp_inspector, target, "recall", query="Which colour has the buoy?")
    assert f"> {text}" in use(mcp_inspector, target, "trace", of="agent:b1")
    assert "Harbour" in use(mcp_inspector, target, "memory_status")
    assert "agent:b1: retracted" in use(mcp_inspector, target, "retract", ids=json.dumps(["agent:b1"]))

    templates = mcp_inspector.call(target, "--method", "resources/templates/list")["resourceTemplates"]
    assert [each["uriTemplate"] for each in templates] == ["vicw://{context}/brief", "vicw://{context}/item/{id}"]
    (guide,) = mcp_inspector.call(target, "--method", "resources/read", "--uri", "vicw://guide")["contents"]
    assert "recall" in guide["text"]
    prompts = mcp_inspector.call(target, "--method", "prompts/list")["prompts"]
    assert [prompt["name"] for prompt in prompts] == ["recall_about", "wrap_up", "why"]


def test_the_public_inspector_lists_and_calls_over_stdio(mcp_inspector: McpInspector, server: Server) -> None:
    target = [str(VICW), "mcp", "--url", server.url, "--context", "Quay"]
    assert [tool["name"] for tool in mcp_inspector.call(target, "--method", "tools/list")["tools"]] == TOOLS
    assert "Remembered: agent:b2" in use(mcp_inspector, target, "remember", text="The quay is closed.", id="b2")
    assert "> The quay is closed." in use(mcp_inspector, target, "recall", query="Is the quay open?")
    assert "> The quay is closed." in use(mcp_inspector, target, "trace", of="agent:b2", show="history")
    assert "Scope: Quay. Rights: " in use(mcp_inspector, target, "memory_status")
    assert "agent:b2: retracted" in use(mcp_inspector, target, "retract", ids=json.dumps(["agent:b2"]))
    assert "Nothing is remembered" in use(mcp_inspector, target, "recall", query="Is the quay open?")
