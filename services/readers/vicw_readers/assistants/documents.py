"""Documents that an assistant writes and changes in a conversation: canvases, artifacts, files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from vicw_readers.assistants.conversations import ConversationTurn

_LITERAL = re.compile(r"\\(\W)")


@dataclass(slots=True)
class DocumentDesk:
    """The documents of one conversation by key, each with its text after the last change that is known."""

    conversation: str
    _turns: dict[str, ConversationTurn]

    @classmethod
    def empty(cls, conversation: str) -> DocumentDesk:
        """Return a desk without documents."""
        return cls(conversation, {})

    def write(self, key: str, name: str | None, text: str, timestamp: datetime | None) -> ConversationTurn | None:
        """Put a whole text; return the turn that stands for the document if it is new."""
        if (before := self._turns.get(key)) is not None:
            self._turns[key] = replace(before, text=text)
            return None
        turn = ConversationTurn(
            f"{self.conversation}#document-{key}", "assistant", text, timestamp, subtype="document", name=name or key
        )
        self._turns[key] = turn
        return turn

    def change(self, key: str, old: str, new: str) -> None:
        """Replace a part of a document; without the document, or the part in it, nothing happens."""
        if old and (before := self._turns.get(key)) is not None:
            self._turns[key] = replace(before, text=before.text.replace(old, new, 1))

    def change_last(self, pattern: str, new: str) -> None:
        """Apply a change of the document that was made last, as ChatGPT writes them.

        The pattern ``.*`` means all of it. Of others only one that occurs literally is applied: what an export holds
        is no expression to run.
        """
        key = next(reversed(self._turns), None)
        if key is not None and pattern == ".*":
            self._turns[key] = replace(self._turns[key], text=new)
        elif key is not None:
            self.change(key, _LITERAL.sub(r"\1", pattern), new)

    def latest(self, turns: Iterable[ConversationTurn]) -> tuple[ConversationTurn, ...]:
        """Return the turns, each document with its last text."""
        last = {turn.id: turn for turn in self._turns.values()}
        return tuple(last.get(turn.id, turn) for turn in turns)
