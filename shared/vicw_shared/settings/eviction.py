"""Settings of eviction: how many items a tenant keeps, and which are evicted first."""

from __future__ import annotations

from datetime import timedelta

from pydantic import Field
from pydantic_settings import BaseSettings

from vicw_shared.settings.concerns import config


class EvictionSettings(BaseSettings):
    """Eviction: if a tenant has too many items, the least important ones are erased (docs/forgetting.md)."""

    model_config = config("VICW_EVICTION_")

    items: int = Field(0, ge=0, description="How many items a tenant keeps; 0: all. A Macro-Event counts as one")
    schedule: str = Field(
        "0 5 * * *",
        description="When it is looked, as cron has it, in UTC; `never`: only `vicw forget capacity` does",
    )
    half_life_days: float = Field(
        90.0,
        ge=0.01,
        le=100_000,
        description="Half-life of the importance of an item that no answer shows, in days; longer by as much per use",
    )
    days: float = Field(
        30.0, ge=0, le=100_000, description="Items stored or shown within this many days are never evicted"
    )
    batch: int = Field(10_000, ge=1, description="How many items of a tenant are erased at a time")

    @property
    def half_life(self) -> timedelta:
        """Half-life of the importance of an item that no answer shows."""
        return timedelta(days=self.half_life_days)

    @property
    def protected_for(self) -> timedelta:
        """Time after its creation or latest use during which an item is not evicted."""
        return timedelta(days=self.days)
