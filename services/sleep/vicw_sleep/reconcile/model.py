"""Progress and result of a comparison of the two stores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class ReconcileSide(StrEnum):
    """The listing that is compared with the other store."""

    PASSAGES = "passages"
    POINTS = "points"


@dataclass(frozen=True, slots=True)
class ReconcileBookmark:
    """Progress of a comparison: ``after`` this passage or point; None: at the start.

    ``lost_at`` is the mark of a lost index, to be cleared if the comparison finds no passage older than it that still
    lacks its point.
    """

    side: ReconcileSide = ReconcileSide.PASSAGES
    after: str | None = None
    lost_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ReconcileReport:
    """Result of a comparison: passages ``missing`` their point and ``stale`` points (both queued again), and
    ``orphaned`` points without a passage (removed).

    ``next`` is where to continue; None: everything is compared. ``rebuilt`` is then the mark of a lost index that no
    longer holds. ``tenants`` has the numbers of each tenant, by their kind in ``counts``.
    """

    missing: int
    stale: int
    orphaned: int
    next: ReconcileBookmark | None
    rebuilt: datetime | None = None
    tenants: Mapping[str, Mapping[str, int]] = field(default_factory=dict, compare=False)

    @property
    def counts(self) -> dict[str, int]:
        """Number of discrepancies by kind, for the log."""
        return {"missing": self.missing, "stale": self.stale, "orphaned": self.orphaned}
