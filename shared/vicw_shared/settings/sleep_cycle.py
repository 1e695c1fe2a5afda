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
        description="Cron schedule, in UTC: minute, hour, day of the month, month, day of the week; `never`: not "
        "scheduled",
    )
    interactions: int = Field(
        500,
        ge=0,
        description="New items (and at least 5 % of all) after which a context is consolidated at once; 0: off",
    )
    hours: float = Field(1.0, ge=0, le=100_000, description="Minimum age of an Event that is consolidated, in hours")
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
        description="Items shown within this many hours are not consolidated; 0: off",
    )
    rest_hours: float = Field(
        24.0, ge=0, le=100_000, description="Time for which a Macro-Event is not consolidated again, in hours"
    )
    batches: int = Field(100, ge=1, description="Macro-Events per slice")
    llm: bool = Field(
        True,
        description="Whether the language model of VICW_LLM_…, if there is one, writes summaries. Its summaries are "
        "checked; if one fails, sentences of the Events are used",
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
        description="Cron schedule, in UTC: minute, hour, day of the month, month, day of the week; `never`: only by "
        "`vicw sleep dream`",
    )
    hours: float = Field(1.0, ge=0, le=100_000, description="Minimum age of an item that gets auto-tags, in hours")
    tags: int = Field(
        3, ge=0, le=20, description="Items with fewer tags get auto-tags up to this number; 0: no auto-tags"
    )
    certainty: float = Field(0.65, ge=0, le=1, description="Minimum certainty of an auto-tag")
    items: int = Field(200, ge=1, description="Items per slice")

    def before(self, now: datetime) -> datetime:
        """Return the time before which an item must have been created to get auto-tags ``now``."""
        return now - timedelta(hours=self.hours)


class ResolveSettings(BaseSettings):
    """Entity resolution: merges entities that are stored under two names (docs/sleep.md)."""

    model_config = config("VICW_RESOLVE_")

    schedule: str = Field(
        "30 4 * * *",
        description="Cron schedule, in UTC: minute, hour, day of the month, month, day of the week; `never`: only by "
        "`vicw sleep resolve`",
    )
    threshold: float = Field(
        0.95,
        ge=0.85,
        le=1,
        description="Minimum similarity of the names of merged entities, as `vicw entities candidates` shows it: "
        "0.98 accents and punctuation, 0.95 order of words, 0.85 initials; 1: nothing is merged",
    )
    shared: int = Field(
        2,
        ge=1,
        le=100,
        description="Minimum number of entities mentioned together with both names, in items of equal visibility",
    )
    names: int = Field(
        10_000, ge=2, le=100_000, description="Maximum names of a context that are compared with each other at a time"
    )
    pairs: int = Field(200, ge=1, description="Pairs per slice")


class EvictionSettings(BaseSettings):
    """Eviction: if a tenant has too many items, the least important ones are erased (docs/forgetting.md)."""

    model_config = config("VICW_EVICTION_")

    items: int = Field(0, ge=0, description="Maximum items of a tenant; 0: no limit. A Macro-Event counts as one")
    schedule: str = Field(
        "0 5 * * *",
        description="Cron schedule of the eviction, in UTC; `never`: only by `vicw forget capacity`",
    )
    half_life_days: float = Field(
        90.0,
        ge=0.01,
        le=100_000,
        description="Half-life of the importance of an item that no answer shows, in days; each use adds as many days",
    )
    days: float = Field(
        30.0, ge=0, le=100_000, description="Items stored or shown within this many days are never evicted"
    )
    batch: int = Field(10_000, ge=1, description="Maximum items of a tenant that are erased at a time")

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
        None, description="Folder of the mirror: new, empty, or created by VICW; unset: no mirror"
    )
    tenant: Annotated[str, AfterValidator(tenant_name)] = Field("default", description="Tenant to mirror")
    viewer: str | None = Field(
        None,
        description="Viewer of the mirror: unset for public and portable items, a person's name for the items about "
        "that person as well, * for everything",
    )
    poll_seconds: float = Field(
        5.0, gt=0, description="Interval of mirror updates, in seconds; longer if builds are slow"
    )
