"""Token counts of messages: by the caller's own counter, or by an estimate without a tokenizer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from vicw_shared.text import estimate_tokens

__all__ = ["Message", "TokenMeter", "estimate_tokens"]

type Message = dict[str, Any]
"""A message in OpenAI's form: ``role``, ``content``, and the fields for tools."""


@dataclass(frozen=True, slots=True)
class TokenMeter:
    """Counts the tokens of messages: those of each text, plus ``per_message`` for the markup around it."""

    count: Callable[[str], int]
    per_message: int

    def cost(self, message: Message) -> int:
        """Return the tokens of one message."""
        texts = (message.get("content"), message.get("name"), message.get("tool_call_id"))
        calls = message.get("tool_calls")
        counted = sum(self.count(text) for text in texts if text)
        return self.per_message + counted + (self.count(json.dumps(calls, ensure_ascii=False)) if calls else 0)

    def total(self, messages: Iterable[Message]) -> int:
        """Return the tokens of all messages."""
        return sum(self.cost(message) for message in messages)
