"""What runs by itself in this process while nobody asks: consolidation, dreams, duplicates, forgetting, the mirror."""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, NoReturn

from vicw_ingest.capacity.turn import turn as turn_of_forgetting
from vicw_sleep.consolidation.turn import keep_consolidating
from vicw_sleep.dream.turn import keep_dreaming
from vicw_sleep.mirror.turn import keep_mirrored
from vicw_sleep.resolve.turn import keep_resolving
from vicw_sleep.schedule import DREAM_SCHEDULE, FORGET_SCHEDULE, RESOLVE_SCHEDULE, SCHEDULE, Schedule
from vicw_sleep.taking_turns import keep_taking_turns
from vicw_standalone.settings import Settings

if TYPE_CHECKING:
    from vicw_standalone.wiring import Standalone

type Work = tuple[str, Coroutine[None, None, NoReturn]]


@dataclass(frozen=True, slots=True)
class Nights:
    """When what is due."""

    consolidation: Schedule
    dream: Schedule
    forgetting: Schedule
    resolve: Schedule

    @classmethod
    def of(cls, settings: Settings, began: datetime) -> Nights:
        """Read the schedules. Raises SettingsError, which names the one that is none."""
        return cls(
            Schedule(SCHEDULE, settings.consolidation.schedule, began),
            Schedule(DREAM_SCHEDULE, settings.dream.schedule, began),
            Schedule(FORGET_SCHEDULE, settings.forgetting.schedule, began),
            Schedule(RESOLVE_SCHEDULE, settings.resolve.schedule, began),
        )

    def work(self, standalone: Standalone) -> Iterator[Work]:
        """Yield what is to run, each with its name, over open stores."""
        settings = standalone.settings
        if settings.sleep.paused:
            return
        if standalone.indexes.reading.model.has_vectors:  # it is vectors that the one saves, and the other goes by
            folding, dreaming = settings.consolidation, settings.dream
            yield "consolidation", keep_consolidating(standalone.consolidation, folding, self.consolidation)
            yield "dream", keep_dreaming(standalone.dream, dreaming, self.dream)
        if settings.forgetting.items:
            yield "forgetting", keep_taking_turns(self.forgetting, partial(_forget, standalone), "forgetting")
        yield "resolve", keep_resolving(standalone.resolve, settings.resolve, self.resolve)
        if settings.mirror.path is not None:
            yield "mirror", keep_mirrored(standalone.background, settings.mirror)


async def _forget(standalone: Standalone) -> AsyncIterator[None]:
    while await turn_of_forgetting(standalone.capacity(), standalone.settings.forgetting):
        yield
