"""The differences between the two stores that a comparison found last, kept after they are repaired.

One record has those of all tenants, for who owns the stores, and each tenant has one of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime

from vicw_runtime.job_runs import in_progress
from vicw_shared.clock import now
from vicw_shared.errors import VicwError
from vicw_shared.ports import JobRun, SleepLog, Store
from vicw_shared.uids import make_uid

COMPARISON = "reconcile"
"""Name of the comparison of the stores among the recorded runs."""
_DRIFT = "drift"


async def record_drift(
    log: SleepLog,
    counts: Mapping[str, int],
    tenants: Mapping[str, Mapping[str, int]],
    *,
    began: datetime | None = None,
) -> None:
    """Record what a slice of a comparison found, by kind, in all and of each of the ``tenants``; nothing if all
    ``counts`` are 0.

    Slices of one run are added up: of the one in progress, or of the run that ``began`` then. A record that cannot be
    written does not fail the slice.
    """
    if not any(counts.values()):
        return
    with suppress(VicwError):
        runs = {run.task: run for run in await log.job_runs()}
        comparison = runs.get(COMPARISON)
        if began is None:
            began = comparison.began if comparison is not None and in_progress(comparison) else now()
        for tenant, found in ((None, counts), *tenants.items()):
            task, total = drift_task(tenant), Counter(found)
            if (earlier := runs.get(task)) is not None and earlier.began == began:
                total.update(earlier.found)
            await log.record_job_run(JobRun(task, began, now(), over=True, found=dict(total)))


async def of_stored(graph: Store, tenants: Mapping[str, Mapping[str, int]]) -> dict[str, Mapping[str, int]]:
    """Return what was found of tenants that have contexts; nothing is kept of one that was erased meanwhile.

    A comparison may have read its points before, and nobody could erase what is recorded after. Nothing of any tenant
    if the graph does not answer.
    """
    with suppress(VicwError):
        return {tenant: found for tenant, found in tenants.items() if await graph.contexts(tenant)}
    return {}


def drift_task(tenant: str | None) -> str:
    """Return the name of the record of a tenant's differences (None: of all), without the tenant's name."""
    return _DRIFT if tenant is None else f"{_DRIFT}:{make_uid(_DRIFT, tenant)}"


def is_drift(run: JobRun) -> bool:
    """Return whether a recorded run is a record of differences, and no run of a job."""
    return run.task.partition(":")[0] == _DRIFT
