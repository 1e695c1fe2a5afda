"""The tools that write: ``remember`` and ``retract``. Nothing that a model writes is kept as a person's own word."""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import Field

from vicw_runtime.mcp.answers import answer
from vicw_runtime.mcp.call import AgentCall
from vicw_runtime.mcp.model import WrittenMemories
from vicw_runtime.mcp.port import McpPorts
from vicw_runtime.mcp.recall_tool import ContextName
from vicw_runtime.mcp.scope import named
from vicw_shared.text import one_fact
from vicw_shared.wire.ingest import IngestedItem, IngestRequest, ItemStatus
from vicw_shared.wire.retract import RetractRequest

SPEAKER = "assistant"
"""Speaker of what a model has written: a role of programs (``core5.AGENTS``), so it counts as no person's word."""
_AGENT = "agent"
_OWN = "agent:"
"""Beginning of the ids of all that agents store: with the address of another's memory they cannot replace that."""
_ID_DIGITS = 16


class WritingTools:
    """The tools that write. Their docstrings are what a model reads of them."""

    def __init__(self, ports: McpPorts) -> None:
        self._ports = ports

    async def remember(
        self,
        ctx: Context,
        text: Annotated[str, Field(description="A statement that is clear without this conversation")],
        context: ContextName = None,
        id: Annotated[str | None, Field(description="Of your own note: same id replaces it")] = None,  # noqa: A002
        speaker: Annotated[str | None, Field(description="Who said it, if someone did")] = None,
        when: Annotated[str | None, Field(description="When it happened, RFC 3339")] = None,
        importance: Literal["critical", "important", "normal", "temporary"] = "normal",
    ) -> Annotated[CallToolResult, WrittenMemories]:
        """Store one lasting fact, decision, preference or outcome. Call it when something will matter in a later
        session; not for what the code or a file says, nor for text that recall returned. It is kept as your note."""
        call = AgentCall.of(ctx, self._ports)
        writer, scope = call.writer, await call.write_scope(context)
        item = {
            "id": _own_id(id, text),
            "text": text,
            "subtype": "note",
            "speaker": SPEAKER,
            "timestamp": when,
            "importance": importance,
            "source": f"{_AGENT}:{call.client}" if call.client else _AGENT,
            "metadata": {"written_by": _AGENT} | ({"said_by": speaker} if speaker else {}),
            "about": [speaker] if speaker else [],
        }
        stored = await writer.ingest(IngestRequest.model_validate({"context": scope, "items": [item]}))
        (one,) = stored.items
        address = one.id or one.uid
        text = f"{named(scope)} {_outcome(one, address)}"
        return answer(WrittenMemories(scope=scope, text=text, statuses={address: one.status.value}))

    async def retract(
        self,
        ctx: Context,
        ids: Annotated[list[str], Field(min_length=1, description="Addresses that recall showed")],
        context: ContextName = None,
        ended_at: Annotated[str | None, Field(description="True until then; without it: never true")] = None,
    ) -> Annotated[CallToolResult, WrittenMemories]:
        """Take memories back that are wrong or have ended. Call it when the user corrects one, then remember the
        correction. The past stays readable; to erase for good is the user's own step."""
        call = AgentCall.of(ctx, self._ports)
        writer, scope = call.writer, await call.write_scope(context)
        request = RetractRequest.model_validate({"context": scope, "ids": ids, "ended_at": ended_at})
        outcome = await writer.retract(request)
        statuses = {address: one.status.value for address, one in zip(ids, outcome.items, strict=True)}
        told = ", ".join(f"{one_fact(address)}: {status}" for address, status in statuses.items())
        return answer(WrittenMemories(scope=scope, text=f"{named(scope)} {told}.", statuses=statuses))


def _own_id(given: str | None, text: str) -> str:
    """Return an agent's id of a memory; without a given one, that of the text, so that it is stored once."""
    name = given or hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_ID_DIGITS]
    return name if name.startswith(_OWN) else f"{_OWN}{name}"


def _outcome(item: IngestedItem, address: str) -> str:
    """Return what became of a memory, in a sentence."""
    masked = f" Masked before storing: {', '.join(sorted({one.kind for one in item.masked}))}." if item.masked else ""
    if item.status is ItemStatus.LINKED:
        known = ", ".join(one_fact(one.id or one.uid) for one in item.sources)
        return f"Already remembered as {known}: nothing was added.{masked}"
    verb = {ItemStatus.CREATED: "Remembered", ItemStatus.UPDATED: "Replaced", ItemStatus.UNCHANGED: "Already there"}
    return f"{verb[item.status]}: {one_fact(address)}.{masked}"
