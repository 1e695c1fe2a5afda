"""Resources: the guide, what a context is about in short, and single items."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.server.mcpserver.resources import ResourceSecurity

from vicw_runtime.mcp.answers import fence, unfenced
from vicw_runtime.mcp.brief import brief_text
from vicw_runtime.mcp.call import AgentCall
from vicw_runtime.mcp.guide import GUIDE
from vicw_runtime.mcp.port import McpPorts
from vicw_shared.clock import format_minute
from vicw_shared.errors import MissingRecordError, VicwError
from vicw_shared.text import one_fact, quoted_lines

_NAMES = ResourceSecurity(exempt_params={"context", "id"})  # names of contexts are no paths of files


def add_resources(server: MCPServer[Any], ports: McpPorts) -> None:
    """Add the resources."""
    resources = MemoryResources(ports)
    server.resource("vicw://guide", mime_type="text/markdown", name="guide")(resources.guide)
    server.resource("vicw://{context}/brief", name="brief", security=_NAMES)(resources.brief)
    server.resource("vicw://{context}/item/{id}", name="item", security=_NAMES)(resources.item)


class MemoryResources:
    """The resources, over what is stored. Names of contexts in addresses are percent-encoded."""

    def __init__(self, ports: McpPorts) -> None:
        self._ports = ports

    async def guide(self) -> str:
        """How to use this memory."""
        return GUIDE

    async def brief(self, context: str, ctx: Context) -> str:
        """What a context holds, in short: how much, what matters most, what came last."""
        call = AgentCall.of(ctx, self._ports)
        with _expected_errors_shown():
            reader = call.reader
            await call.read_scope(context)
            return await brief_text(reader, context)

    async def item(self, context: str, id: str, ctx: Context) -> str:  # noqa: A002
        """One memory, whole."""
        call = AgentCall.of(ctx, self._ports)
        with _expected_errors_shown():
            reader = call.reader
            item = await reader.item(id, await call.read_scope(context))
            facts = (item.subtype, item.name, item.speaker, item.source, format_minute(item.told_at))
            head = f"[{one_fact(item.id or item.uid)}] {' · '.join(one_fact(fact) for fact in facts if fact)}"
            return fence(item.context, unfenced(f"{head}\n{quoted_lines(item.text or '')}"))


@contextmanager
def _expected_errors_shown() -> Iterator[None]:
    """Tell expected errors to the client, which sees no text of others."""
    try:
        yield
    except MissingRecordError as error:
        raise ResourceNotFoundError(error.detail) from error
    except VicwError as error:
        raise ResourceError(error.detail) from error
