"""When a context that has grown counts as gone through."""

from __future__ import annotations

from typing import Any

import pytest

from vicw_runtime.schedule.jobs import CATCH_UP_CONSOLIDATION
from vicw_shared.ports import ArrivalCount, Flow, JobRun
from vicw_shared.settings import ConsolidationSettings
from vicw_sleep.consolidation.job import CatchUpResult, catch_up
from vicw_sleep.consolidation.service import ConsolidationReport
from vicw_sleep.consolidation.source_reader import FlowBookmark

GROWN = ArrivalCount("t", "c", 12)


class Consolidation:
    """Has done so much, and keeps what is noted."""

    def __init__(self, done: ConsolidationReport) -> None:
        self.graph = self.log = self
        self.noted: list[ArrivalCount] = []
        self.rounds_noted: list[JobRun] = []
        self._done = done

    async def run(self, *_: object, **__: object) -> ConsolidationReport:
        return self._done

    async def job_runs(self) -> list[JobRun]:
        return self.rounds_noted[-1:]

    async def record_job_run(self, round_: JobRun) -> None:
        self.rounds_noted.append(round_)

    async def contexts_with_arrivals(self, *_: object, **__: object) -> list[ArrivalCount]:
        return [] if self.noted else [GROWN]

    async def record_arrivals(self, growth: ArrivalCount) -> None:
        self.noted.append(growth)


@pytest.mark.parametrize(("macros", "changed", "again"), [(1, 0, False), (1, 1, True), (0, 1, False)])
async def test_a_context_changed_during_its_consolidation_stays_due(macros: int, changed: int, again: bool) -> None:
    consolidation: Any = Consolidation(ConsolidationReport(macros=macros, changed=changed))
    assert await catch_up(consolidation, ConsolidationSettings(interactions=6)) == CatchUpResult(None)
    assert consolidation.noted == ([] if again else [GROWN])


async def test_catch_up_records_job_runs_only_while_there_are_arrivals() -> None:
    consolidation: Any = Consolidation(ConsolidationReport(macros=1, next=FlowBookmark(Flow("t", "c", "f"))))
    caught = await catch_up(consolidation, ConsolidationSettings(interactions=6))
    (begun, first) = consolidation.rounds_noted
    assert (begun.task, begun.slices, first.slices, first.over) == (CATCH_UP_CONSOLIDATION, 0, 1, False)
    consolidation._done = ConsolidationReport(macros=1)
    await catch_up(consolidation, ConsolidationSettings(interactions=6), caught.next)
    assert (consolidation.rounds_noted[-1].slices, consolidation.rounds_noted[-1].over) == (2, True)
    await catch_up(consolidation, ConsolidationSettings(interactions=6))
    assert len(consolidation.rounds_noted) == 4, "nothing has grown since"
