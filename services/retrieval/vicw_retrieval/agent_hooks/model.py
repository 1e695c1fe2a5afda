"""Events of agents' hooks, and the answers to them.

What Claude Code and Codex send has more fields with each version, so unknown ones are ignored.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from vicw_shared.wire.base import Id, Message, Prose, RawText, Timestamp, example
from vicw_shared.wire.examples import retrieve, story


class Agent(StrEnum):
    """An agent with an endpoint of its own; its name is the ``source`` of what its sessions say."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"


@dataclass(frozen=True, slots=True)
class SessionPlace:
    """Where a session is: its tenant, its context, and its id, which is the flow of its turns."""

    tenant: str
    context: str
    session: str


@dataclass(frozen=True, slots=True)
class Offloaded:
    """How many turns are stored, and in a sentence what could not be read or stored.

    ``is_open``: the transcript was opened.
    """

    stored: int = 0
    problem: str = ""
    is_open: bool = True


class HookQuery(Message):
    """The parameters of an agent's endpoint."""

    context: Id | None = Field(
        None,
        description="The project; default: that of the agent's folder, if this server may look at it",
        examples=[story.NOVEL],
    )


class HookEvent(BaseModel):
    """What Claude Code and Codex send to a hook: the fields that both have and that VICW reads."""

    model_config = ConfigDict(
        extra="ignore",
        frozen=True,
        json_schema_extra={
            "examples": [
                {
                    "hook_event_name": "UserPromptSubmit",
                    "session_id": "2f6c41d0-9b7e-4c52-8a13-7d5e0b9c6f24",
                    "cwd": "/home/ana/novel",
                    "prompt": story.QUESTION,
                    "source": "user",
                }
            ]
        },
    )

    hook_event_name: RawText = Field(description="SessionStart, UserPromptSubmit, PreCompact, Stop or SessionEnd")
    session_id: Id
    cwd: RawText | None = Field(None, description="The folder that the agent works in")
    transcript_path: RawText | None = None
    prompt: RawText | None = Field(None, description="Of UserPromptSubmit")
    source: RawText | None = Field(
        None,
        description="Of SessionStart: startup, resume, clear, compact or fork. Of UserPromptSubmit: who wrote the "
        "prompt: user, sdk, or what no user wrote (system, loop_wakeup, schedule_wakeup, poll_event)",
    )


class HookContext(Message):
    """What the agent adds to the model's context."""

    event: str = Field(serialization_alias="hookEventName")
    text: str = Field(serialization_alias="additionalContext")


class HookOutput(Message):
    """The answer to a hook, without what it has not: an empty object changes nothing.

    ``wants_turns`` is no part of it: the server has not opened the transcript, so its turns have to be sent.
    """

    model_config = example(
        {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": retrieve.MEMORIES}}
    )

    context: HookContext | None = Field(None, serialization_alias="hookSpecificOutput")
    message: str | None = Field(None, serialization_alias="systemMessage", description="Shown to the user")
    wants_turns: bool = Field(False, exclude=True)


class SaidTurn(Message):
    """A turn of a session."""

    id: Id = Field(description="The same each time the turn is sent, so that it is stored once")
    speaker: Id = Field("user", description="`user`, `assistant`, or a name")
    text: Prose
    timestamp: Timestamp | None = None


class SessionEvent(Message):
    """An event of any agent."""

    model_config = example(
        {"event": "prompt", "context": story.NOVEL, "session": "evening", "prompt": story.QUESTION},
        {
            "event": "turns",
            "context": story.NOVEL,
            "session": "evening",
            "source": "writer",
            "turns": [{"id": "1", "speaker": "user", "text": "Edran must not know that Mara is the Raven."}],
        },
    )

    event: Literal["start", "prompt", "turns", "compact", "end"] = Field(
        description="`start` is answered with the latest memories, `prompt` with what it calls for. The others may "
        "bring turns to store"
    )
    context: Id = Field(description="The project")
    session: Id
    prompt: Prose | None = None
    source: Id = Field("agent", description="The source of the turns: the agent's name")
    turns: Annotated[tuple[SaidTurn, ...], Field(max_length=1000)] = ()

    @model_validator(mode="after")
    def _require_its_fields(self) -> Self:
        if self.event == "prompt" and self.prompt is None:
            raise PydanticCustomError("prompt", "is a prompt without `prompt`")
        if self.turns and self.event in ("start", "prompt"):
            raise PydanticCustomError("turns", "brings no turns; send them as `turns`, `compact` or `end`")
        return self


class SessionAnswer(Message):
    """The answer to an event."""

    model_config = example({"text": retrieve.MEMORIES, "items": [story.BETRAYAL_UID], "stored": 0, "problem": ""})

    text: str = Field("", description="Memories as data, to put before the model; empty: nothing is relevant")
    items: tuple[str, ...] = Field((), description="The uids of these memories")
    stored: int = Field(0, description="Turns that are stored, those included that were stored before")
    problem: str = Field("", description="Which turn could not be stored, and why; empty: all are stored")
