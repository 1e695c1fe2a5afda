"""Settings of consolidation: its schedule, and the Events that it consolidates."""

from __future__ import annotations

from datetime import datetime, timedelta

from pydantic import Field
from pydantic_settings import BaseSettings

from vicw_shared.settings.concerns import config


class ConsolidationSettings(BaseSettings):
    """Consolidation: one Macro-Event replaces old Events of a flow; their proof stays (docs/sleep.md)."""

    model_config = config("VICW_CONSOLIDATE_")

    schedule: str = Field(
        "0 3 * * *",
        description="When it runs, as cron has it, in UTC: minute, hour, day of the month, month, day of the week; "
        "`never`: by no clock",
    )
    interactions: int = Field(
        500,
        ge=0,
        description="A context that so many new items arrived in, and a 20th of all, is consolidated at once; 0: none",
    )
    hours: float = Field(1.0, ge=0, le=100_000, description="How old an Event is before it is consolidated, in hours")
    half_life_days: float = Field(
        365.0,
        ge=0,
        le=100_000,
        description="Half-life in days of the importance of an item that no answer shows; 0: no decay. Protected "
        "items are never consolidated",
    )
    used_hours: float = Field(
        24.0,
        ge=0,
        le=100_000,
        description="What an answer has shown within so many hours is not consolidated; 0: it is, too",
    )
    rest_hours: float = Field(
        24.0, ge=0, le=100_000, description="Rest of a Macro-Event before it is consolidated again, in hours"
    )
    batches: int = Field(100, ge=1, description="Macro-Events per slice")
    llm: bool = Field(
        True,
        description="Whether the language model of VICW_LLM_… writes summaries, where there is one. What it writes is "
        "checked; sentences of the Events stand in for it",
    )

    @property
    def half_life(self) -> timedelta | None:
        """Half-life of the importance of an item that no answer shows; None: no decay."""
        return timedelta(days=self.half_life_days) or None  # also if it rounds to zero

    def used_since(self, now: datetime) -> datetime | None:
        """Return the time since which shown items are not consolidated; None: shown items are consolidated, too."""
        return now - timedelta(hours=self.used_hours) if self.used_hours else None

    def before(self, now: datetime) -> datetime:
        """Return the time before which an Event must have been created to be consolidated ``now``."""
        return now - timedelta(hours=self.hours)
