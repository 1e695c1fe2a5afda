"""What an event of an agent's hook does: recall, or offload.

Which events there are was checked for Claude Code 2.1 and Codex (docs/agents/). An event that is not known does
nothing, so that a later version of an agent is not held up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from vicw_core.hook_events import OFFLOADING
from vicw_readers.assistants.agents.transcript import OFF_MARKER, TranscriptTurn
from vicw_retrieval.agent_hooks.model import (
    Agent,
    HookContext,
    HookEvent,
    HookOutput,
    Offloaded,
    SessionAnswer,
    SessionEvent,
    SessionPlace,
)
from vicw_retrieval.agent_hooks.port import AgentFiles, TurnWriter
from vicw_retrieval.agent_hooks.recall import Recalled, brief, recall
from vicw_retrieval.agent_hooks.sessions import Session, Sessions
from vicw_retrieval.agent_hooks.turns import offload
from vicw_retrieval.ports import RetrievalPorts
from vicw_retrieval.request.stages import name_sizes, require_within_limits
from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.settings import HookSettings

_NOT_A_USER = frozenset({"system", "loop_wakeup", "schedule_wakeup", "poll_event"})
"""Who writes prompts of Claude Code beside its user: they ask nothing that a memory could answer."""


@dataclass(frozen=True, slots=True)
class Sender:
    """Who sends an event, whether it is on the server's machine, and whether it is the server's own user.

    ``writer`` opens the memory to write to; it raises ForbiddenError for a key that may not.
    """

    tenant: str
    writer: Callable[[], TurnWriter]
    is_local: bool
    is_owner: bool


@dataclass(slots=True)
class HookPorts:
    """What hooks need.

    ``files``: those of agents beside a server on loopback; None: this server looks at none. They are the operator's and
    of the server's user, so they are opened for the owner alone, with the tenant ``files_of``.
    """

    retrieval: Callable[[], RetrievalPorts]
    settings: HookSettings
    files: AgentFiles | None = None
    files_of: str = ""
    sessions: Sessions[Session] = field(init=False)

    def __post_init__(self) -> None:
        self.sessions = Sessions(self.settings.sessions, Session)


async def handle_event(
    event: HookEvent, agent: Agent, context: str | None, sender: Sender, ports: HookPorts
) -> HookOutput:
    """Do what an event of Claude Code or Codex asks for; an empty output if that is nothing.

    ``context``: that of the project; None: that of the agent's folder, for the owner alone. For others nothing is
    opened: another user of this machine, or a program in a sandbox, could have the server read what it may not read
    itself. Only the file that switches memory off is looked for, and for senders on this machine alone. Raises
    InvalidInputError if no context is known, and ForbiddenError for a key that may not store.
    """
    name = event.hook_event_name
    files = ports.files if sender.is_local and sender.tenant == ports.files_of else None
    if files is not None and event.cwd and files.is_off(event.cwd):
        return HookOutput()
    files = files if sender.is_owner else None
    own = files.context_of(event.cwd) if files is not None and event.cwd and not context else ""
    place = SessionPlace(sender.tenant, _required(context or own), event.session_id)
    session = _session(place, ports)
    if name == "SessionStart":
        session.is_compacted |= event.source == "compact"
        return _output(name, await brief(place, session, ports.retrieval, ports.settings))
    if name == "UserPromptSubmit":
        prompt = "" if event.source in _NOT_A_USER else event.prompt or ""
        return _output(name, await recall(prompt, place, session, ports.retrieval, ports.settings))
    if name not in OFFLOADING or event.transcript_path is None:
        return HookOutput()
    writer, offloaded = sender.writer(), Offloaded(is_open=False)
    if files is not None:
        chars = ports.retrieval().limits.text_chars
        offloaded = await files.offload(event.transcript_path, agent, place, writer, chars)
    if not offloaded.is_open:
        opens_none = "VICW opens no transcript for this agent: `vicw hook` sends the turns"
        return HookOutput(message=f"VICW: {offloaded.problem}" if offloaded.problem else opens_none, wants_turns=True)
    session.is_compacted |= name == "PreCompact"
    return HookOutput(message=f"VICW: {offloaded.problem}" if offloaded.problem else None)


async def handle_session_event(event: SessionEvent, sender: Sender, ports: HookPorts) -> SessionAnswer:
    """Do what an event of any agent asks for. Raises ForbiddenError for turns of a key that may not store."""
    place = SessionPlace(sender.tenant, event.context, event.session)
    session = _session(place, ports)
    if event.event == "start":
        return _answer(await brief(place, session, ports.retrieval, ports.settings))
    if event.event == "prompt":
        return _answer(await recall(event.prompt or "", place, session, ports.retrieval, ports.settings))
    offloaded = Offloaded()
    if event.turns:
        said = [
            TranscriptTurn(turn.id, turn.speaker, turn.text, turn.timestamp.isoformat() if turn.timestamp else None)
            for turn in event.turns
            if OFF_MARKER not in turn.text
        ]
        chars = ports.retrieval().limits.text_chars
        offloaded = await offload(said, event.source, place, sender.writer(), chars)
    session.is_compacted |= event.event == "compact"
    return SessionAnswer(stored=offloaded.stored, problem=offloaded.problem)


def _session(place: SessionPlace, ports: HookPorts) -> Session:
    """Return what is known of a session. Raises InvalidInputError for names over the limit: they are kept."""
    names = {"context": place.context, "session": place.session}
    require_within_limits(name_sizes(names, {}, None, ports.retrieval().limits))
    return ports.sessions.of(place)


def _required(context: str) -> str:
    if not context:
        problem = FieldProblem("context", "is missing", "Add ?context=NAME to the address, or use `vicw hook`")
        raise InvalidInputError(problem)
    return context


def _output(event: str, recalled: Recalled) -> HookOutput:
    if not recalled.text:
        return HookOutput()
    return HookOutput(context=HookContext(event=event, text=recalled.text))


def _answer(recalled: Recalled) -> SessionAnswer:
    return SessionAnswer(text=recalled.text, items=recalled.items)
