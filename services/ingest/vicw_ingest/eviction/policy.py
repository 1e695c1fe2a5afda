"""What goes for want of room, and what never does."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from vicw_shared.decay import last_needed, weight
from vicw_shared.model import Node
from vicw_shared.ports import Use


@dataclass(frozen=True, slots=True, kw_only=True)
class EvictionPolicy:
    """A tenant keeps ``items``. What goes first weighs least, which halves in each ``half_life`` of disuse.

    What was learnt or shown within ``rest`` stays, and what is protected.
    """

    items: int
    half_life: timedelta = timedelta(days=90)
    rest: timedelta = timedelta(days=30)

    def weight(self, item: Node, use: Use | None, now: datetime) -> float:
        """Return what an item weighs, in [0, 1]."""
        return weight(item, use, now, self.half_life)

    def stays(self, item: Node, use: Use | None, now: datetime) -> str:
        """Say why an item may not go, whatever it weighs; "": it may."""
        if item.protected:
            return "it is protected"
        if now - last_needed(item, use) < self.rest:
            return "it was learnt or shown of late"
        return ""


def is_kept_item(node: Node) -> bool:
    """Tell whether a node is an item that counts: live, and of a caller, or a Macro-Event of such."""
    return node.content_hash is not None and node.retired_at is None
