"""Orders of items in a listing."""

from __future__ import annotations

from enum import StrEnum


class ItemOrder(StrEnum):
    """What items are ordered by: when they were told, happened and arrived, or how important they are."""

    TOLD = "told"
    HAPPENED = "happened"
    ARRIVAL = "arrival"
    IMPORTANCE = "importance"
