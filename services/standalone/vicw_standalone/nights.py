"""What runs by itself in this process while nobody asks: consolidation, dreams, duplicates, forgetting, the mirror."""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, NoReturn

from vicw_ingest.capacity.turn import turn as turn_of_forgetting
from vicw_sleep.consolidation.turn import keep_consolidating
from vicw_sleep.dream.turn import keep_dreaming
from vicw_sleep.mirror.turn import keep_mirrored
from vicw_sleep.nights import Nightly
from vicw_sleep.resolve.turn import keep_resolving
from vicw_sleep.schedule import Schedule
from vicw_sleep.taking_turns import keep_taking_turns

if TYPE_CHECKING:
    from vicw_standalone.wiring import Standalone

type Work = tuple[str, Coroutine[None, None, NoReturn]]


def work(standalone: Standalone, schedules: Mapping[Nightly, Schedule]) -> Iterator[Work]:
    """Yield what is to run, each with its name, over open stores."""
    settings, asleep = standalone.settings, standalone.asleep
    if settings.sleep.paused:
        return
    if standalone.indexes.reading.model.has_vectors:  # it is vectors that the one saves, and the other goes by
        folding, dreaming = schedules[Nightly.CONSOLIDATION], schedules[Nightly.DREAM]
        yield "consolidation", keep_consolidating(asleep.consolidation, settings.consolidation, folding, asleep.graph)
        yield "dream", keep_dreaming(asleep.dream, settings.dream, dreaming, asleep.graph)
    if settings.forgetting.items:
        forgetting = schedules[Nightly.FORGETTING]
        yield "forgetting", keep_taking_turns(forgetting, partial(_forget, standalone), "forgetting", asleep.graph)
    yield "resolve", keep_resolving(asleep.resolve, settings.resolve, schedules[Nightly.RESOLVE], asleep.graph)
    if settings.mirror.path is not None:
        yield "mirror", keep_mirrored(asleep.graph, settings.mirror)


async def _forget(standalone: Standalone) -> AsyncIterator[None]:
    while await turn_of_forgetting(standalone.asleep.capacity(), standalone.settings.forgetting):
        yield
