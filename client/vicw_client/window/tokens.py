"""What messages cost: by the caller's own counter, or by an estimate that needs no tokenizer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

type Message = dict[str, Any]
"""A message as OpenAI-compatible servers take it: ``role``, ``content``, and what tools need."""

_BYTES_PER_TOKEN = 3


def estimate_tokens(text: str) -> int:
    """Return an estimate: one token for every three bytes of UTF-8, rounded up.

    English prose has about four characters a token with usual tokenizers, so that it errs on the safe side; a
    character of Chinese or Japanese counts as one token. Hexadecimal, base64 and the like can take more than that.
    """
    return -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class Meter:
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
