"""Job slices of consolidation: a limited number of batches each, repeated when due while work is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from datetime import timedelta
from typing import Any, NoReturn

import structlog

from vicw_runtime.job_runs import recorded_run
from vicw_runtime.operations import Memory
from vicw_runtime.schedule.cron import Schedule
from vicw_runtime.schedule.jobs import CATCH_UP_CONSOLIDATION
from vicw_shared.clock import now
from vicw_shared.errors import VicwError
from vicw_shared.ports import ArrivalCount
from vicw_shared.settings import ConsolidationSettings
from vicw_sleep.consolidation.batches import ConsolidationRules
from vicw_sleep.consolidation.llm_requests import llm_requester
from vicw_sleep.consolidation.service import Consolidation, ConsolidationReport
from vicw_sleep.consolidation.source_reader import ContextRef, FlowBookmark
from vicw_sleep.schedule.scheduler import SLICE_SECONDS, run_on_schedule, run_slices

_log = structlog.get_logger()


def consolidation_of(memory: Memory) -> Consolidation:
    """Return the consolidation of a memory, whose language model writes the summaries if the settings say so."""
    settings = memory.settings
    return Consolidation(
        memory.graph,
        memory.graph.pending_extractions,
        memory.indexes,
        memory.registry,
        memory.queue,
        chunk_chars=settings.ingest.chunk_chars,
        llm=llm_requester(memory.model, settings.llm) if settings.consolidation.llm else None,
        yield_to_foreground=memory.yield_to_foreground,
    )


def rules_of(settings: ConsolidationSettings) -> ConsolidationRules:
    """Return the current conditions of consolidation."""
    return ConsolidationRules(
        before=settings.before(now()),
        rest=timedelta(hours=settings.rest_hours),
        used_since=settings.used_since(now()),
        half_life=settings.half_life,
    )


@dataclass(frozen=True, slots=True)
class ContextRun:
    """The rest of a run in a context that has ``grown``: everything after ``mark``."""

    grown: ArrivalCount
    mark: FlowBookmark | None = None

    @property
    def written(self) -> list[object]:
        """The JSON form that ``read`` takes."""
        return [list(astuple(self.grown)), self.mark.written if self.mark is not None else None]

    @classmethod
    def read(cls, written: Sequence[Any]) -> ContextRun:
        """Return the run of its JSON form."""
        grown, mark = written
        return cls(ArrivalCount(*grown), FlowBookmark.read(mark) if mark is not None else None)


@dataclass(frozen=True, slots=True)
class CatchUpResult:
    """A slice in a context that has grown. ``next`` is where to continue, in any context; None: complete."""

    next: ContextRun | None


async def consolidate_slice(
    consolidation: Consolidation,
    settings: ConsolidationSettings,
    start: FlowBookmark | None = None,
    within: ContextRef | None = None,
    seconds: float = SLICE_SECONDS,
) -> ConsolidationReport | None:
    """Consolidate at most ``settings.batches`` batches, for ``seconds``; return the result.

    A failure is logged, and the result is None.
    """
    try:
        rules = rules_of(settings)
        done = await consolidation.run(
            rules, now=now(), max_batches=settings.batches, seconds=seconds, start=start, within=within
        )
    except VicwError as error:
        _log.warning("consolidation stopped; completed batches are kept", error=error.detail)
        return None
    if done.macros or done.refused:
        fields = {"events": done.events, "macros": done.macros, "refused": done.refused, "changed": done.changed}
        _log.info("consolidated", flows=done.flows, **fields)
    return done


async def catch_up(
    consolidation: Consolidation, settings: ConsolidationSettings, start: ContextRun | None = None
) -> CatchUpResult:
    """Run a slice in a context in which ``settings.interactions`` items have arrived.

    A failure is left to the scheduled run, or to the next catch-up after as many items. Raises what the graph raises
    when it counts arrivals.
    """
    run = start or await _grown(consolidation, settings)
    if run is None:
        return CatchUpResult(None)
    grown = run.grown
    async with recorded_run(consolidation.graph.log, CATCH_UP_CONSOLIDATION, first=start is None) as record:
        done = await consolidate_slice(consolidation, settings, run.mark, (grown.tenant, grown.context))
        result = await _caught_up(consolidation, settings, grown, done)
        record.failed, record.more = done is None, result.next is not None
    return result


async def _caught_up(
    consolidation: Consolidation, settings: ConsolidationSettings, grown: ArrivalCount, done: ConsolidationReport | None
) -> CatchUpResult:
    if done is not None and done.next is not None:
        return CatchUpResult(ContextRun(grown, done.next))
    if done is not None and done.changed and done.macros:
        return CatchUpResult(None)  # the next poll reconsiders the changed batches, the scheduled run all that is left
    await consolidation.graph.log.record_arrivals(grown)
    return CatchUpResult(await _grown(consolidation, settings))


async def _grown(consolidation: Consolidation, settings: ConsolidationSettings) -> ContextRun | None:
    if not settings.interactions:
        return None
    contexts = await consolidation.graph.log.contexts_with_arrivals(settings.interactions, limit=1)
    return ContextRun(contexts[0]) if contexts else None


async def keep_consolidating(memory: Memory, schedule: Schedule) -> NoReturn:
    """Run slices when they are due, by schedule and by arrivals, for ever."""
    consolidation, settings = consolidation_of(memory), memory.settings.consolidation
    between = run_slices(lambda start: catch_up(consolidation, settings, start))
    slices = run_slices(lambda mark: consolidate_slice(consolidation, settings, mark))
    await run_on_schedule(schedule, slices, "consolidation", memory.graph.log, between)
