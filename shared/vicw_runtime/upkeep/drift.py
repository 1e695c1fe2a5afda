"""The differences between the two stores that a comparison found last, kept after they are repaired."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime

from vicw_runtime.job_runs import in_progress
from vicw_shared.clock import now
from vicw_shared.errors import VicwError
from vicw_shared.ports import JobRun, SleepLog

COMPARISON = "reconcile"
"""Name of the comparison of the stores among the recorded runs."""
DRIFT = "drift"
"""Name of the record of the last comparison that found something."""


async def record_drift(log: SleepLog, counts: Mapping[str, int], *, began: datetime | None = None) -> None:
    """Record what a slice of a comparison found, by kind; nothing if all ``counts`` are 0.

    Slices of one run are added up: of the one in progress, or of the run that ``began`` then. A record that cannot be
    written does not fail the slice.
    """
    if not any(counts.values()):
        return
    with suppress(VicwError):
        runs = {run.task: run for run in await log.job_runs()}
        comparison, earlier = runs.get(COMPARISON), runs.get(DRIFT)
        if began is None:
            began = comparison.began if comparison is not None and in_progress(comparison) else now()
        total = Counter(counts)
        if earlier is not None and earlier.began == began:
            total.update(earlier.found)
        await log.record_job_run(JobRun(DRIFT, began, now(), over=True, found=dict(total)))
