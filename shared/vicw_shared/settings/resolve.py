"""Settings of entity resolution: its schedule, and the evidence that a merge requires."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings

from vicw_shared.settings.concerns import config


class ResolveSettings(BaseSettings):
    """Entity resolution: merges entities that are stored under two names (docs/sleep.md)."""

    model_config = config("VICW_RESOLVE_")

    schedule: str = Field(
        "30 4 * * *",
        description="When it runs, as cron has it, in UTC: minute, hour, day of the month, month, day of the week; "
        "`never`: only `vicw sleep resolve` does",
    )
    threshold: float = Field(
        0.95,
        ge=0.85,
        le=1,
        description="Lowest name similarity of a merge, as `vicw entities candidates` scores them: "
        "0.98 accents and punctuation, 0.95 order of words, 0.85 initials; 1: nothing is merged",
    )
    shared: int = Field(
        2, ge=1, le=100, description="How many same things both are named with at least, each seen by the same people"
    )
    names: int = Field(
        10_000, ge=2, le=100_000, description="How many names of a context are compared with each other at a time"
    )
    pairs: int = Field(200, ge=1, description="Pairs per slice")
