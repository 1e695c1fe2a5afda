"""What every graph must do with how far the sleep cycle is."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from support.stores.graph_records import AT, Graph
from vicw_shared.ports import JobRun

BEGUN = JobRun("dream", AT, AT + timedelta(seconds=5), 1)


async def test_the_last_run_of_each_job_is_stored(graph: Graph) -> None:
    assert await graph.log.job_runs() == []
    await graph.log.record_job_run(BEGUN)
    other = JobRun("consolidation", AT, AT, error="the index 'x' is \N{SNOWMAN} away")
    await graph.log.record_job_run(other)
    assert await graph.log.job_runs() == [other, BEGUN]
    over = replace(BEGUN, at=AT + timedelta(minutes=1), slices=4, over=True)
    await graph.log.record_job_run(over)
    assert await graph.log.job_runs() == [other, over]
