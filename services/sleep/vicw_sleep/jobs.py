"""What comes by the clock, and when: one table for the platform's clock, for ``vicw serve`` and for whoever asks."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Protocol

from vicw_shared.settings import ConsolidationSettings, DreamSettings, EvictionSettings, ResolveSettings, SleepSettings
from vicw_sleep.schedule import NEVER, Schedule


class ScheduledJob(StrEnum):
    """A task that has a schedule."""

    CONSOLIDATION = "consolidation"
    DREAM = "dream"
    RESOLVE = "resolve"
    FORGETTING = "forgetting"
    RECONCILE = "reconcile"


BY_DAY = "consolidation of a context"
"""What comes when enough has arrived, as its rounds are noted."""
SETTING = {
    ScheduledJob.CONSOLIDATION: "VICW_CONSOLIDATE_SCHEDULE",
    ScheduledJob.DREAM: "VICW_DREAM_SCHEDULE",
    ScheduledJob.RESOLVE: "VICW_RESOLVE_SCHEDULE",
    ScheduledJob.FORGETTING: "VICW_EVICTION_SCHEDULE",
    ScheduledJob.RECONCILE: "VICW_SLEEP_RECONCILE_SCHEDULE",
}
"""The setting that says when."""


class JobSettings(Protocol):
    """The settings of all these tasks."""

    @property
    def consolidation(self) -> ConsolidationSettings: ...  # noqa: D102
    @property
    def dream(self) -> DreamSettings: ...  # noqa: D102
    @property
    def resolve(self) -> ResolveSettings: ...  # noqa: D102
    @property
    def forgetting(self) -> EvictionSettings: ...  # noqa: D102
    @property
    def sleep(self) -> SleepSettings: ...  # noqa: D102


def schedules(settings: JobSettings, began: datetime) -> dict[ScheduledJob, Schedule]:
    """Return when each task is due from ``began`` on. Raises SettingsError, which names the schedule that is none."""
    told = {
        ScheduledJob.CONSOLIDATION: settings.consolidation.schedule,
        ScheduledJob.DREAM: settings.dream.schedule,
        ScheduledJob.RESOLVE: settings.resolve.schedule,
        ScheduledJob.FORGETTING: settings.forgetting.schedule,
        ScheduledJob.RECONCILE: settings.sleep.reconcile_schedule,
    }
    read = {task: Schedule(SETTING[task], expression, began) for task, expression in told.items()}
    if not settings.forgetting.items:
        read[ScheduledJob.FORGETTING] = Schedule(SETTING[ScheduledJob.FORGETTING], NEVER, began)
    return read
