"""The MCP server on the official SDK, which is slow to import: only ``McpEndpoint`` does, with the first request."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import ToolAnnotations

from vicw_runtime.mcp.guide import INSTRUCTIONS
from vicw_runtime.mcp.port import McpPorts
from vicw_runtime.mcp.prompts import add_prompts
from vicw_runtime.mcp.recall_tool import ReadingTools
from vicw_runtime.mcp.remember_tool import WritingTools
from vicw_runtime.mcp.resources import add_resources
from vicw_runtime.mcp.search_tool import SearchTools
from vicw_runtime.mcp.strict_tool import StrictTool

_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
_TAKES_BACK = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)


def build_server(ports: McpPorts, *, searches: bool = False) -> MCPServer[Any]:
    """Return the server with its tools, resources and prompts.

    ``searches``: also with ``search`` and ``fetch``, for clients that know no other tools.
    """
    reading, writing, searching = ReadingTools(ports), WritingTools(ports), SearchTools(ports)
    tools: list[tuple[Callable[..., Any], ToolAnnotations]] = [
        (reading.recall, _READS),
        (writing.remember, _ADDS),
        (writing.retract, _TAKES_BACK),
        (reading.trace, _READS),
        (reading.memory_status, _READS),
    ]
    if searches:
        tools += [(searching.search, _READS), (searching.fetch, _READS)]
    server: MCPServer[Any] = MCPServer(
        "vicw",
        title="VICW memory",
        instructions=INSTRUCTIONS,
        version=version("vicw"),
        tools=[StrictTool.of(fn, annotations) for fn, annotations in tools],
        log_level="WARNING",
        subscriptions=False,  # nobody is told of changes, and an open stream would hold up the end of the process
    )
    add_resources(server, ports)
    add_prompts(server)
    return server


def build_sessions(ports: McpPorts, max_body_bytes: int, *, searches: bool) -> StreamableHTTPSessionManager:
    """Return what answers the HTTP requests of a server; it has to ``run`` meanwhile.

    Without sessions: any copy of a service answers any request, of the handshake of older clients, too. Hosts and
    origins were checked by the guard of the application.
    """
    server = build_server(ports, searches=searches)
    server.streamable_http_app(
        json_response=True,
        stateless_http=True,
        max_request_body_size=max_body_bytes,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return server.session_manager
