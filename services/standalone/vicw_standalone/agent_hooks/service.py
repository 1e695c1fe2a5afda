"""What an event of an agent's hook does: recall, or offload.

Which events there are was checked for Claude Code 2.1 and Codex (docs/agents/). An event that is not known does
nothing, so that a later version of an agent is not held up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vicw_core.project_context import folder_context
from vicw_ingest.pipeline import IngestPorts
from vicw_readers.assistants.agents.transcript import OFF_MARKER, TranscriptTurn
from vicw_retrieval.ports import RetrievalPorts
from vicw_runtime.http import Caller
from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.model.keys import Right
from vicw_shared.settings import HookSettings
from vicw_standalone.agent_hooks.capture import Offloaded, offload, offload_transcript
from vicw_standalone.agent_hooks.hook import OFFLOADING
from vicw_standalone.agent_hooks.model import Agent, HookContext, HookEvent, HookOutput, SessionAnswer, SessionEvent
from vicw_standalone.agent_hooks.project import is_off
from vicw_standalone.agent_hooks.recall import Recalled, SessionPlace, brief, recall
from vicw_standalone.agent_hooks.sessions import Sessions


@dataclass(frozen=True, slots=True)
class Sender:
    """Who sends an event, and whether it is on the server's machine."""

    caller: Caller
    is_local: bool


@dataclass(frozen=True, slots=True)
class HookPorts:
    """What hooks need. ``is_local``: the server listens on loopback alone."""

    retrieval: Callable[[], RetrievalPorts]
    ingest: Callable[[], IngestPorts]
    settings: HookSettings
    sessions: Sessions
    is_local: bool


async def handle_event(
    event: HookEvent, agent: Agent, context: str | None, sender: Sender, ports: HookPorts
) -> HookOutput:
    """Do what an event of Claude Code or Codex asks for; an empty output if that is nothing.

    ``context``: that of the project; None: the name of the checkout around the agent's folder, on this machine alone.
    Paths of an event that came from elsewhere, such as through a reverse proxy, are not looked at: nobody else may ask
    what this machine has on its disk. Raises InvalidInputError if no context is known, and ForbiddenError for a key
    that may not store.
    """
    name = event.hook_event_name
    is_local = ports.is_local and sender.is_local
    folder = event.cwd if is_local else None
    if folder and is_off(folder):
        return HookOutput()
    place = SessionPlace(sender.caller.tenant, context or _context_of(folder), event.session_id)
    session = ports.sessions.of(place.tenant, place.context, place.session)
    if name == "SessionStart":
        session.is_compacted |= event.source == "compact"
        return _output(name, await brief(place, session, ports.retrieval, ports.settings))
    if name == "UserPromptSubmit":
        return _output(name, await recall(event.prompt or "", place, session, ports.retrieval, ports.settings))
    if name not in OFFLOADING or event.transcript_path is None:
        return HookOutput()
    sender.caller.require(Right.INGEST)
    if not (is_local and ports.settings.read_transcripts):
        message = "VICW opens no transcript for this agent: `vicw hook` sends the turns"
        return HookOutput(message=message, wants_turns=True)
    offloaded = await offload_transcript(event.transcript_path, agent, place, session, ports.ingest, sender.caller.key)
    session.is_compacted |= name == "PreCompact"
    problem = f"VICW: {offloaded.problem}" if offloaded.problem else None
    return HookOutput(message=problem, wants_turns=not offloaded.is_open)


async def handle_session_event(event: SessionEvent, sender: Sender, ports: HookPorts) -> SessionAnswer:
    """Do what an event of any agent asks for. Raises ForbiddenError for turns of a key that may not store."""
    place = SessionPlace(sender.caller.tenant, event.context, event.session)
    session = ports.sessions.of(place.tenant, place.context, place.session)
    if event.event == "start":
        return _answer(await brief(place, session, ports.retrieval, ports.settings))
    if event.event == "prompt":
        return _answer(await recall(event.prompt or "", place, session, ports.retrieval, ports.settings))
    offloaded = Offloaded()
    if event.turns:
        sender.caller.require(Right.INGEST)
        said = [
            TranscriptTurn(turn.id, turn.speaker, turn.text, turn.timestamp.isoformat() if turn.timestamp else None)
            for turn in event.turns
            if OFF_MARKER not in turn.text
        ]
        offloaded = await offload(said, event.source, place, ports.ingest, sender.caller.key)
        if offloaded.problem:
            raise InvalidInputError(FieldProblem("turns", offloaded.problem, "Correct it, and send them again"))
    session.is_compacted |= event.event == "compact"
    return SessionAnswer(stored=offloaded.stored)


def _context_of(folder: str | None) -> str:
    name = folder_context(folder) if folder else ""
    if not name:
        problem = FieldProblem("context", "is missing", "Add ?context=NAME to the address, or use `vicw hook`")
        raise InvalidInputError(problem)
    return name


def _output(event: str, recalled: Recalled) -> HookOutput:
    if not recalled.text:
        return HookOutput()
    return HookOutput(context=HookContext(event=event, text=recalled.text))


def _answer(recalled: Recalled) -> SessionAnswer:
    return SessionAnswer(text=recalled.text, items=recalled.items)
