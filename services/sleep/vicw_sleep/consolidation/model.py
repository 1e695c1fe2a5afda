"""The data that consolidation reads of an Event before it decides."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from vicw_shared.model import Node
from vicw_shared.ports import Use
from vicw_shared.uids import chunk_uid


@dataclass(frozen=True, slots=True)
class SourceEvent:
    """A caller's Event, or a Macro-Event, with its ``passages`` in order.

    ``about`` are the uids of the persons it is about, ``named`` the names of what it mentions, ``caused`` the texts of
    its statements that cause something or are caused. ``busy``: its extraction is pending. ``use``: how often answers
    showed it, if any did.
    """

    event: Node
    passages: tuple[Node, ...] = ()
    statements: tuple[Node, ...] = ()
    about: frozenset[str] = frozenset()
    named: tuple[str, ...] = ()
    caused: tuple[str, ...] = ()
    busy: bool = False
    use: Use | None = None

    @property
    def text(self) -> str:
        """Its text. For a Macro-Event: its summary, which is among its passages, a line a source."""
        if not self.event.is_macro:
            return "".join(passage.text or "" for passage in self.passages)
        summary = {chunk_uid(self.event.uid, ordinal) for ordinal in range(len(self.passages))}
        return "\n".join(passage.text or "" for passage in self.passages if passage.uid in summary)

    @property
    def head(self) -> str:
        """The speaker, or the title if there is none; the lines of a Macro-Event name their speakers themselves."""
        return "" if self.event.is_macro else self.event.speaker or self.event.title or ""

    @property
    def called(self) -> str:
        """The title beside the speaker: all turns of a chat may have the chat's title."""
        return self.event.title or "" if self.event.speaker and not self.event.is_macro else ""

    @property
    def at(self) -> datetime:
        """When it happened."""
        return self.event.timestamp or self.event.created_at
