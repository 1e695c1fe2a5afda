"""How what an item weighs wears off (design: "Sleep cycle"): nothing is written, it is worked out when it is asked for.

A forgetting curve (Ebbinghaus 1885) whose half-life grows with each use, as in MemoryBank (Zhong et al. 2023).
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from vicw_shared.model import Node
from vicw_shared.model.triggers import UNSTATED
from vicw_shared.ports import Use


def last_needed(item: Node, use: Use | None) -> datetime:
    """Return when an answer showed an item last, or when it was learnt."""
    return max(item.created_at, use.last) if use is not None else item.created_at


def weight(item: Node, use: Use | None, now: datetime, half_life: timedelta) -> float:
    """Return what is left of an item's importance, in [0, 1]: half of it after each ``half_life`` in which nobody
    needed it, times one more than how often it was shown.
    """
    importance = item.importance if item.importance is not None else UNSTATED
    idle = max(now - last_needed(item, use), timedelta(0))
    lasting = half_life * (1 + (use.times if use is not None else 0))
    return importance * math.exp2(-(idle / lasting))
