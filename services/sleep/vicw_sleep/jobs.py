"""What comes by the clock, and when: one table for the platform's clock, for ``vicw serve`` and for whoever asks."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Protocol

from vicw_shared.settings import ConsolidationSettings, DreamSettings, ForgetSettings, ResolveSettings, SleepSettings
from vicw_sleep.schedule import NEVER, Schedule


class Nightly(StrEnum):
    """A task that has a schedule."""

    CONSOLIDATION = "consolidation"
    DREAM = "dream"
    RESOLVE = "resolve"
    FORGETTING = "forgetting"
    RECONCILE = "reconcile"


BY_DAY = "consolidation of a context"
"""What comes when enough has arrived, as its rounds are noted."""
SETTING = {
    Nightly.CONSOLIDATION: "VICW_CONSOLIDATE_SCHEDULE",
    Nightly.DREAM: "VICW_DREAM_SCHEDULE",
    Nightly.RESOLVE: "VICW_RESOLVE_SCHEDULE",
    Nightly.FORGETTING: "VICW_FORGET_SCHEDULE",
    Nightly.RECONCILE: "VICW_SLEEP_RECONCILE_SCHEDULE",
}
"""The setting that says when."""


class Settings(Protocol):
    """The settings of all these tasks."""

    @property
    def consolidation(self) -> ConsolidationSettings: ...  # noqa: D102
    @property
    def dream(self) -> DreamSettings: ...  # noqa: D102
    @property
    def resolve(self) -> ResolveSettings: ...  # noqa: D102
    @property
    def forgetting(self) -> ForgetSettings: ...  # noqa: D102
    @property
    def sleep(self) -> SleepSettings: ...  # noqa: D102


def schedules(settings: Settings, began: datetime) -> dict[Nightly, Schedule]:
    """Return when each task is due from ``began`` on. Raises SettingsError, which names the schedule that is none."""
    told = {
        Nightly.CONSOLIDATION: settings.consolidation.schedule,
        Nightly.DREAM: settings.dream.schedule,
        Nightly.RESOLVE: settings.resolve.schedule,
        Nightly.FORGETTING: settings.forgetting.schedule,
        Nightly.RECONCILE: settings.sleep.reconcile_schedule,
    }
    read = {task: Schedule(SETTING[task], expression, began) for task, expression in told.items()}
    if not settings.forgetting.items:
        read[Nightly.FORGETTING] = Schedule(SETTING[Nightly.FORGETTING], NEVER, began)
    return read
