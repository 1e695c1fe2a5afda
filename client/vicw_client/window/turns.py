"""A turn of a conversation: its forms for the model, for VICW and for the spool."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from vicw_client.window.tokens import Message
from vicw_shared.text import trimmed, visible

_NOT_IN_NAMES = re.compile(r"[\s<|\\/>]+")


@dataclass(frozen=True, slots=True)
class Turn:
    """A message with its speaker and time. ``number`` counts from 1 in its conversation."""

    number: int
    role: str
    content: str | None
    timestamp: datetime
    name: str | None = None
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    tool_call_id: str | None = None

    @property
    def calls(self) -> frozenset[str]:
        """The ids of its tool calls, each of which needs an answer."""
        return frozenset(str(call.get("id")) for call in self.tool_calls)

    @property
    def text(self) -> str:
        """The text to store: its content, then each tool call as ``name(arguments)``; may be empty."""
        functions = [call["function"] for call in self.tool_calls if isinstance(call.get("function"), Mapping)]
        calls = [f"{function.get('name')}({function.get('arguments') or ''})" for function in functions]
        text = "\n".join([self.content or "", *calls])
        return trimmed(text) if visible(text) else ""

    def message(self) -> Message:
        """Return the message for a model. White space and brackets in a name, which servers refuse, become ``_``."""
        message: Message = {"role": self.role, "content": self.content}
        if self.name:
            message["name"] = _NOT_IN_NAMES.sub("_", self.name)
        if self.tool_calls:
            message["tool_calls"] = [dict(call) for call in self.tool_calls]
        if self.tool_call_id is not None:
            message["tool_call_id"] = self.tool_call_id
        return message

    def to_json(self) -> dict[str, Any]:
        """Return the line for the spool."""
        line = {"turn": self.number, "role": self.role, "content": self.content, "at": self.timestamp.isoformat()}
        further = {"name": self.name, "tool_calls": list(self.tool_calls), "tool_call_id": self.tool_call_id}
        return line | {key: value for key, value in further.items() if value}

    @classmethod
    def from_json(cls, line: Mapping[str, Any]) -> Self:
        """Return the turn of a line from `to_json`. Raises ValueError, KeyError or TypeError for anything else."""
        return cls(
            number=int(line["turn"]),
            role=str(line["role"]),
            content=line["content"],
            timestamp=datetime.fromisoformat(line["at"]),
            name=line.get("name"),
            tool_calls=tuple(line.get("tool_calls", ())),
            tool_call_id=line.get("tool_call_id"),
        )
