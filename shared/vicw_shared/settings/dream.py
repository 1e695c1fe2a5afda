"""Settings of dreams: their schedule, and the auto-tags that they add."""

from __future__ import annotations

from datetime import datetime, timedelta

from pydantic import Field
from pydantic_settings import BaseSettings

from vicw_shared.settings.concerns import config


class DreamSettings(BaseSettings):
    """Dreams: auto-tags (docs/sleep.md)."""

    model_config = config("VICW_DREAM_")

    schedule: str = Field(
        "0 4 * * *",
        description="When it runs, as cron has it, in UTC: minute, hour, day of the month, month, day of the week; "
        "`never`: only `vicw sleep dream` does",
    )
    hours: float = Field(1.0, ge=0, le=100_000, description="How old an item is before it is dreamt of, in hours")
    tags: int = Field(
        3, ge=0, le=20, description="Items with fewer tags than that get auto-tags, up to as many; 0: none do"
    )
    certainty: float = Field(0.65, ge=0, le=1, description="How sure an auto-tag is at least")
    items: int = Field(200, ge=1, description="Items per slice")

    def before(self, now: datetime) -> datetime:
        """Return the time before which an item must have been created to get auto-tags ``now``."""
        return now - timedelta(hours=self.hours)
