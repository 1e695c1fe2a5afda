"""Eviction policy: weights of items, and reasons to keep them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from vicw_shared.decay import last_used_or_created, weight
from vicw_shared.model import Node
from vicw_shared.ports import Use


@dataclass(frozen=True, slots=True, kw_only=True)
class EvictionPolicy:
    """Policy for tenants with more than ``items`` items. Weights halve in each ``half_life`` of disuse.

    Items stored or shown within ``rest``, and protected items, stay.
    """

    items: int
    half_life: timedelta = timedelta(days=90)
    rest: timedelta = timedelta(days=30)

    def weight(self, item: Node, use: Use | None, now: datetime) -> float:
        """Return the weight of an item, in [0, 1]. The lowest go first."""
        return weight(item, use, now, self.half_life)

    def reason_to_keep(self, item: Node, use: Use | None, now: datetime) -> str:
        """Return the reason why an item may not be evicted, or "" if it may."""
        if item.protected:
            return "it is protected"
        if now - last_used_or_created(item, use) < self.rest:
            return "it was learnt or shown of late"
        return ""


def is_kept_item(node: Node) -> bool:
    """Return whether a node counts as an item: live, and a caller's item or a Macro-Event."""
    return node.content_hash is not None and node.retired_at is None
