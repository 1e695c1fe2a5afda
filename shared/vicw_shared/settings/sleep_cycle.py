"""Settings of the sleep cycle: consolidation, dreams, entity resolution, eviction and the mirror."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_settings import BaseSettings

from vicw_shared.settings.concerns import config, tenant_name


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


class MirrorSettings(BaseSettings):
    """The mirror: a folder of Markdown files with a tenant's items (docs/mirror.md)."""

    model_config = config("VICW_MIRROR_")

    path: Path | None = Field(
        None, description="Folder of the mirror: new, empty, or one that VICW made; none is kept without"
    )
    tenant: Annotated[str, AfterValidator(tenant_name)] = Field("default", description="Tenant to mirror")
    viewer: str | None = Field(
        None,
        description="Viewer of the mirror: unset for public and portable items, a person's name for the items about "
        "that person as well, * for everything",
    )
    poll_seconds: float = Field(
        5.0, gt=0, description="How often changes are brought into it, in seconds; where that takes long, less often"
    )
