"""One call of an agent: who calls, about what, and the memory it may use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from vicw_runtime.http import Caller
from vicw_runtime.mcp.port import McpPorts, MemoryReader, MemoryWriter
from vicw_runtime.mcp.scope import ConnectionScope, read_scope, write_scope
from vicw_shared.model.keys import Right
from vicw_shared.text import one_fact

if TYPE_CHECKING:
    from mcp.server.mcpserver import Context

CLIENT_HEADER = "vicw-client"
"""Header of `vicw mcp` with the client's name, percent-encoded: after a handshake no message says it again."""
_CLIENT_CHARS = 60


@dataclass(frozen=True, slots=True)
class AgentCall:
    """A call through an admitted connection."""

    caller: Caller
    scope: ConnectionScope
    ports: McpPorts
    authorization: str | None
    client: str
    """What the client calls itself; "" if it does not say."""

    @classmethod
    def of(cls, context: Context, ports: McpPorts) -> AgentCall:
        """Return the call that the SDK hands to a tool: what ``McpEndpoint`` has found is in its HTTP request."""
        http = context.request_context.request
        assert http is not None  # of every HTTP transport
        params = context.session.client_params
        name = params.client_info.name if params is not None else unquote(http.headers.get(CLIENT_HEADER, ""))
        client = one_fact(name)[:_CLIENT_CHARS]
        return cls(http.state.caller, http.state.mcp_scope, ports, http.headers.get("authorization"), client)

    @property
    def reader(self) -> MemoryReader:
        """The memory to read. Raises ForbiddenError for a key without the right ``retrieve``."""
        self.caller.require(Right.RETRIEVE)
        return self.ports.reader(self.caller)

    @property
    def writer(self) -> MemoryWriter:
        """The memory to write to. Raises ForbiddenError for a key without the right ``ingest``."""
        self.caller.require(Right.INGEST)
        return self.ports.writer(self.caller, self.authorization)

    async def read_scope(self, argument: str | None) -> str | None:
        """Return the context to read (``scope.read_scope``)."""
        return await read_scope(self.scope, argument, self.reader)

    async def write_scope(self, argument: str | None) -> str:
        """Return the context to write to (``scope.write_scope``); only who may read is told which there are."""
        may_read = Right.RETRIEVE in self.caller.rights
        return await write_scope(self.scope, argument, self.ports.reader(self.caller) if may_read else None)
