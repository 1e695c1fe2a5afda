"""A turn of consolidation: so many batches, then it is somebody else's; again while there is more, when it is due."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from datetime import timedelta
from typing import Any, NoReturn

import structlog

from vicw_shared.clock import now
from vicw_shared.errors import VicwError
from vicw_shared.job_runs import recorded_run
from vicw_shared.ports import ArrivalCount, SleepLog
from vicw_shared.settings import ConsolidationSettings
from vicw_sleep.consolidation.batches import ConsolidationRules
from vicw_sleep.consolidation.flow_scan import ContextRef, FlowBookmark
from vicw_sleep.consolidation.service import Consolidated, Consolidation
from vicw_sleep.jobs import BY_DAY
from vicw_sleep.schedule import Schedule
from vicw_sleep.scheduler import SLICE_SECONDS, run_on_schedule, run_slices

_log = structlog.get_logger()


def rules_of(settings: ConsolidationSettings) -> ConsolidationRules:
    """Return what may be consolidated now."""
    return ConsolidationRules(
        before=settings.before(now()),
        rest=timedelta(hours=settings.rest_hours),
        used_since=settings.used_since(now()),
        half_life=settings.half_life,
    )


@dataclass(frozen=True, slots=True)
class ContextRun:
    """What is left of a context that has ``grown``: what stands behind ``mark``."""

    grown: ArrivalCount
    mark: FlowBookmark | None = None

    @property
    def written(self) -> list[object]:
        """What ``read`` takes, as JSON."""
        return [list(astuple(self.grown)), self.mark.written if self.mark is not None else None]

    @classmethod
    def read(cls, written: Sequence[Any]) -> ContextRun:
        """Return the errand that was written."""
        grown, mark = written
        return cls(ArrivalCount(*grown), FlowBookmark.read(mark) if mark is not None else None)


@dataclass(frozen=True, slots=True)
class CatchUpResult:
    """A turn in a context that has grown, and where the next one goes on, there or in another; None: it is through."""

    next: ContextRun | None


async def consolidate_slice(
    consolidation: Consolidation,
    settings: ConsolidationSettings,
    start: FlowBookmark | None = None,
    within: ContextRef | None = None,
) -> Consolidated | None:
    """Fold ``settings.batches`` batches at most, for TURN_SECONDS; return what was done. What fails is logged: None."""
    try:
        rules = rules_of(settings)
        most, seconds = settings.batches, SLICE_SECONDS
        done = await consolidation.run(rules, now=now(), most=most, seconds=seconds, start=start, within=within)
    except VicwError as error:
        _log.warning("consolidation stopped; what it has done stands", error=error.detail)
        return None
    if done.macros or done.refused:
        told = {"events": done.events, "macros": done.macros, "refused": done.refused, "changed": done.changed}
        _log.info("consolidated", flows=done.flows, **told)
    return done


async def catch_up(
    consolidation: Consolidation, settings: ConsolidationSettings, left: ContextRun | None = None
) -> CatchUpResult:
    """Take a turn in a context that ``settings.interactions`` items arrived in.

    What fails is left to the night, or to as many items more. Raises what the graph raises that knows of growth.
    """
    errand = left or await _grown(consolidation, settings)
    if errand is None:
        return CatchUpResult(None)
    grown = errand.grown
    async with recorded_run(consolidation.graph.log, BY_DAY, first=left is None) as round_:
        done = await consolidate_slice(consolidation, settings, errand.mark, (grown.tenant, grown.context))
        caught = await _caught_up(consolidation, settings, grown, done)
        round_.failed, round_.more = done is None, caught.next is not None
    return caught


async def _caught_up(
    consolidation: Consolidation, settings: ConsolidationSettings, grown: ArrivalCount, done: Consolidated | None
) -> CatchUpResult:
    if done is not None and done.next is not None:
        return CatchUpResult(ContextRun(grown, done.next))
    if done is not None and done.changed and done.macros:
        return CatchUpResult(
            None
        )  # what has changed meanwhile is judged anew at the next look, all that is left by night
    await consolidation.graph.log.record_arrivals(grown)
    return CatchUpResult(await _grown(consolidation, settings))


async def _grown(consolidation: Consolidation, settings: ConsolidationSettings) -> ContextRun | None:
    if not settings.interactions:
        return None
    found = await consolidation.graph.log.contexts_with_arrivals(settings.interactions, limit=1)
    return ContextRun(found[0]) if found else None


async def keep_consolidating(
    opened: Callable[[], Consolidation], settings: ConsolidationSettings, schedule: Schedule, rounds: SleepLog
) -> NoReturn:
    """Take turns when they are due, by the clock and by what has arrived, for ever."""

    between = run_slices(lambda left: catch_up(opened(), settings, left))
    night = run_slices(lambda mark: consolidate_slice(opened(), settings, mark))
    await run_on_schedule(schedule, night, "consolidation", rounds, between)
