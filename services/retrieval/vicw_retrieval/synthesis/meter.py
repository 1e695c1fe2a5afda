"""Length of a text in the unit of the caller's budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from vicw_shared.tokens import BYTES_PER_TOKEN
from vicw_shared.wire.answer_format import DEFAULT_BUDGET_CHARS, Budget

ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class TextMeter:
    """Measures text in characters, or ``in_bytes`` of UTF-8: a budget of tokens is three times as many bytes."""

    limit: int
    in_bytes: bool = False

    @classmethod
    def of(cls, budget: Budget) -> Self:
        """Return the measure of a caller's budget."""
        if budget.tokens is not None:
            return cls(budget.tokens * BYTES_PER_TOKEN, in_bytes=True)
        return cls(budget.chars or DEFAULT_BUDGET_CHARS)

    def size(self, text: str) -> int:
        """Return how much of the limit a text takes."""
        return len(text.encode("utf-8", "surrogatepass")) if self.in_bytes else len(text)

    def cut(self, text: str, room: int) -> str:
        """Return a text that takes at most ``room``: its beginning and an ellipsis where it is too long.

        >>> TextMeter(0).cut("a long text", 7), TextMeter(0, in_bytes=True).cut("a long text", 7)
        ('a long…', 'a lo…')
        """
        if self.size(text) <= room:
            return text
        remaining = room - self.size(ELLIPSIS)
        if remaining < 0:
            return self._head(text, max(0, room))
        return self._head(text, remaining) + ELLIPSIS

    def _head(self, text: str, room: int) -> str:
        if self.in_bytes:  # a character that is cut through is left out
            return text.encode("utf-8", "replace")[:room].decode("utf-8", "ignore")
        return text[:room]
