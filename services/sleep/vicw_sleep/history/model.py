"""The tasks that log their steps."""

from __future__ import annotations

from enum import StrEnum

from vicw_core.graph.edge_factory import DREAM, RESOLVE


class LoggedTask(StrEnum):
    """A task that logs its steps."""

    CONSOLIDATE = "consolidate"
    DREAM = DREAM
    RESOLVE = RESOLVE
    EVICT = "forget"
    EXPIRE = "expire"
