"""Scheduled jobs and their schedules: one table for the platform's clock, for ``vicw serve`` and for status reports."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from vicw_runtime.schedule.cron import NEVER, Schedule

if TYPE_CHECKING:
    from vicw_shared.settings import (
        ConsolidationSettings,
        DreamSettings,
        EvictionSettings,
        ResolveSettings,
        SleepSettings,
    )


class ScheduleSettings(Protocol):
    """The settings that say when the jobs run."""

    @property
    def sleep(self) -> SleepSettings: ...  # noqa: D102
    @property
    def consolidation(self) -> ConsolidationSettings: ...  # noqa: D102
    @property
    def dream(self) -> DreamSettings: ...  # noqa: D102
    @property
    def resolve(self) -> ResolveSettings: ...  # noqa: D102
    @property
    def eviction(self) -> EvictionSettings: ...  # noqa: D102


class ScheduledJob(StrEnum):
    """A job with a schedule."""

    CONSOLIDATION = "consolidation"
    DREAM = "dream"
    RESOLVE = "resolve"
    EVICTION = "eviction"
    RECONCILE = "reconcile"


CATCH_UP_CONSOLIDATION = "consolidation of a context"
"""Name of the consolidation runs that arrivals trigger, in the recorded job runs."""
SETTING = {
    ScheduledJob.CONSOLIDATION: "VICW_CONSOLIDATE_SCHEDULE",
    ScheduledJob.DREAM: "VICW_DREAM_SCHEDULE",
    ScheduledJob.RESOLVE: "VICW_RESOLVE_SCHEDULE",
    ScheduledJob.EVICTION: "VICW_EVICTION_SCHEDULE",
    ScheduledJob.RECONCILE: "VICW_SLEEP_RECONCILE_SCHEDULE",
}
"""The setting of each job's schedule."""


def schedules(settings: ScheduleSettings, began: datetime) -> dict[ScheduledJob, Schedule]:
    """Return the schedule of each job, from ``began`` on. Raises SettingsError that names an invalid schedule."""
    expressions = {
        ScheduledJob.CONSOLIDATION: settings.consolidation.schedule,
        ScheduledJob.DREAM: settings.dream.schedule,
        ScheduledJob.RESOLVE: settings.resolve.schedule,
        ScheduledJob.EVICTION: settings.eviction.schedule,
        ScheduledJob.RECONCILE: settings.sleep.reconcile_schedule,
    }
    by_job = {task: Schedule(SETTING[task], expression, began) for task, expression in expressions.items()}
    if not settings.eviction.items:
        by_job[ScheduledJob.EVICTION] = Schedule(SETTING[ScheduledJob.EVICTION], NEVER, began)
    return by_job
