"""What messages cost: by the caller's own counter, or by an estimate that needs no tokenizer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from vicw_shared.tokens import estimate_tokens

__all__ = ["Message", "TokenMeter", "estimate_tokens"]

type Message = dict[str, Any]
"""A message as OpenAI-compatible servers take it: ``role``, ``content``, and what tools need."""


@dataclass(frozen=True, slots=True)
class TokenMeter:
    """Counts messages: the tokens of each text in it, and ``per_message`` for the marks around it."""

    count: Callable[[str], int]
    per_message: int

    def cost(self, message: Message) -> int:
        """Return the tokens of one message."""
        texts = (message.get("content"), message.get("name"), message.get("tool_call_id"))
        calls = message.get("tool_calls")
        counted = sum(self.count(text) for text in texts if text)
        return self.per_message + counted + (self.count(json.dumps(calls, ensure_ascii=False)) if calls else 0)

    def total(self, messages: Iterable[Message]) -> int:
        """Return the tokens of all of them."""
        return sum(self.cost(message) for message in messages)
