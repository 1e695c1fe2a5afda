"""A turn of a conversation: as it is sent to a model, remembered by VICW, and kept in a file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from vicw_client.window.tokens import Message
from vicw_shared.text import visible

_NOT_IN_NAMES = re.compile(r"[\s<|\\/>]+")


@dataclass(frozen=True, slots=True)
class Turn:
    """What was said, by whom and when. ``number`` counts from 1 in its conversation."""

    number: int
    role: str
    content: str | None
    timestamp: datetime
    name: str | None = None
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    tool_call_id: str | None = None

    @property
    def calls(self) -> frozenset[str]:
        """The ids of the tools' calls that want an answer each."""
        return frozenset(str(call.get("id")) for call in self.tool_calls)

    @property
    def text(self) -> str:
        """What is remembered: the text, then each call as ``name(arguments)``; may be empty."""
        functions = [call["function"] for call in self.tool_calls if isinstance(call.get("function"), Mapping)]
        called = [f"{function.get('name')}({function.get('arguments') or ''})" for function in functions]
        text = "\n".join([self.content or "", *called])
        return text.strip() if visible(text) else ""

    def message(self) -> Message:
        """Return it for a model. A name is written as servers accept it: without white space and brackets."""
        message: Message = {"role": self.role, "content": self.content}
        if self.name:
            message["name"] = _NOT_IN_NAMES.sub("_", self.name)
        if self.tool_calls:
            message["tool_calls"] = [dict(call) for call in self.tool_calls]
        if self.tool_call_id is not None:
            message["tool_call_id"] = self.tool_call_id
        return message

    def to_json(self) -> dict[str, Any]:
        """Return it for a file."""
        line = {"turn": self.number, "role": self.role, "content": self.content, "at": self.timestamp.isoformat()}
        further = {"name": self.name, "tool_calls": list(self.tool_calls), "tool_call_id": self.tool_call_id}
        return line | {key: value for key, value in further.items() if value}

    @classmethod
    def from_json(cls, line: Mapping[str, Any]) -> Self:
        """Return what `to_json` gave. Raises ValueError, KeyError or TypeError for anything else."""
        return cls(
            number=int(line["turn"]),
            role=str(line["role"]),
            content=line["content"],
            timestamp=datetime.fromisoformat(line["at"]),
            name=line.get("name"),
            tool_calls=tuple(line.get("tool_calls", ())),
            tool_call_id=line.get("tool_call_id"),
        )
