"""What the hooks of agents need beside the read path."""

from __future__ import annotations

from typing import Protocol

from vicw_retrieval.agent_hooks.model import Agent, Offloaded, SessionPlace
from vicw_shared.wire.ingest import IngestRequest, IngestResponse


class TurnWriter(Protocol):
    """Stores turns, for one caller, with the errors of ingest."""

    async def ingest(self, request: IngestRequest) -> IngestResponse:
        """Store items."""
        ...


class AgentFiles(Protocol):
    """The files of agents on the server's own machine; only a server that an agent has to itself may look at them."""

    def is_off(self, folder: str) -> bool:
        """Return whether memory is switched off in a folder."""
        ...

    def context_of(self, folder: str) -> str:
        """Return the context of a folder; the empty text if it has none."""
        ...

    async def offload(self, path: str, agent: Agent, place: SessionPlace, writer: TurnWriter, chars: int) -> Offloaded:
        """Store the turns of a transcript that are not stored yet, each of at most ``chars`` characters."""
        ...
