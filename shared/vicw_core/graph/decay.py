"""Importance decay of an item: computed on read, never stored.

A forgetting curve (Ebbinghaus 1885) with a half-life that grows with each use, as in MemoryBank (Zhong et al. 2023).
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from vicw_shared.model import Node
from vicw_shared.model.triggers import DEFAULT_IMPORTANCE
from vicw_shared.ports import Use


def last_used_or_created(item: Node, use: Use | None) -> datetime:
    """Return when an answer last showed an item, or when it was created."""
    return max(item.created_at, use.last) if use is not None else item.created_at


def weight(item: Node, use: Use | None, now: datetime, half_life: timedelta) -> float:
    """Return the decayed importance of an item, in [0, 1].

    It halves with each period of ``half_life`` × (1 + number of uses) since the item was last needed.
    """
    importance = item.importance if item.importance is not None else DEFAULT_IMPORTANCE
    idle = max(now - last_used_or_created(item, use), timedelta(0))
    lasting = half_life * (1 + (use.times if use is not None else 0))
    return importance * math.exp2(-(idle / lasting))
