"""What consolidation reads of an Event before it decides."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from vicw_shared.model import Node
from vicw_shared.ports import Use


@dataclass(frozen=True, slots=True)
class Material:
    """An Event of a caller, or a Macro-Event, with its ``passages`` in order.

    ``about`` are the uids of whom it is about, ``named`` the names of what it mentions, ``caused`` the texts of its
    statements that cause something or are caused. ``busy``: somebody is not done with it. ``use``: how often answers
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
        """What it says: of a Macro-Event its summary."""
        return "".join(passage.text or "" for passage in self.passages)

    @property
    def at(self) -> datetime:
        """When it happened."""
        return self.event.timestamp or self.event.created_at
