"""``GET /stats``: how much is stored."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import Field

from vicw_shared.wire.base import Message, example
from vicw_shared.wire.items import ViewerQuery

MAX_DAYS = 366


class StatsQuery(ViewerQuery):
    """Whose view is counted, and how many days are told one by one."""

    days: Annotated[int, Field(ge=1, le=MAX_DAYS, description="Days of `days`, with today, of UTC")] = 30


class DayStats(Message):
    """Live items that were stored on a day of UTC."""

    day: date
    items: int


class QueueStats(Message):
    """Entries of a queue: those that wait, those of them that failed before, and those that were given up."""

    waiting: int
    failing: int
    dead: int


class StoreStats(Message):
    """What a tenant has stored, as far as the viewer may see it."""

    model_config = example(
        {
            "items": 4,
            "retired": 0,
            "contexts": 1,
            "labels": {"Event": 4},
            "domains": {"creative": 4},
            "passages": 4,
            "chars": 231,
            "vectors": 4,
            "waiting": 0,
            "days": [{"day": "2026-01-19", "items": 4}],
            "queue": {"waiting": 0, "failing": 0, "dead": 0},
            "extraction_queue": {"waiting": 0, "failing": 0, "dead": 0},
            "erasures": 0,
            "imports": 1,
            "disk_bytes": None,
        }
    )

    items: int = Field(description="Live items: all numbers up to `days` but `retired` are of these")
    retired: int = Field(description="Items that were retracted or replaced by a later version")
    contexts: int = Field(description="Contexts with a live item")
    labels: dict[str, int] = Field(description="Items by label")
    domains: dict[str, int] = Field(description="Items by domain")
    passages: int
    chars: int = Field(
        description="Characters of the passages, each one to four bytes. Of the files, which all tenants share, a "
        "tenant has no part of its own"
    )
    vectors: int = Field(description="Passages that a vector search finds; 0 in a store without vectors")
    waiting: int = Field(description="Passages that are not in the index yet")
    days: tuple[DayStats, ...] = Field(description="The last days on which any was stored, the earliest first")
    queue: QueueStats | None = Field(
        None, description="Passages for the vector index. Null for a viewer, as the next three: hidden items count, too"
    )
    extraction_queue: QueueStats | None = Field(None, description="Items for the language model")
    erasures: int | None = Field(None, description="Erasures that wait, run, or are not proven yet")
    imports: int | None = Field(
        None, description="Imports of files that run; one whose server was killed, for another minute"
    )
    disk_bytes: int | None = Field(
        None,
        description="Size of the files of all tenants: only for a key of the operator's tenant with the right `admin`, "
        "without a viewer, of a server that has a data directory",
    )
