"""What ``GET /stats`` tells of work that waits or runs: of the tenant whose it is, on both stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from operator import methodcaller
from pathlib import Path
from typing import Any

import pytest

from support.stores.pairs import Side, asked_for
from vicw_ingest.erasure.eraser import Eraser
from vicw_ingest.erasure.selection import choose_items
from vicw_ingest.file_import.job_record import JobRecord
from vicw_retrieval.items.statistics import read_statistics
from vicw_retrieval.ports import RetrievalPorts
from vicw_retrieval.request.engines import CircuitBreaker
from vicw_shared.clock import now
from vicw_shared.model import EdgeRegistry
from vicw_shared.model.receipts import IMPORT_DEAD_AFTER
from vicw_shared.settings import LimitSettings, RetrievalSettings
from vicw_shared.wire.file_import import ImportJob, ImportReport
from vicw_shared.wire.stats import StatsQuery

NONE = {"queue": (0, 0, 0), "extraction_queue": (0, 0, 0), "erasures": 0, "imports": 0}


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


async def told(side: Side, tenant: str, **query: Any) -> dict[str, Any]:
    ports = RetrievalPorts(
        side.graph,
        side.vectors,
        side.embedder,
        "",
        LimitSettings(),
        RetrievalSettings(),
        CircuitBreaker(),
        unfinished=side.graph,
    )
    stats = await read_statistics(StatsQuery.model_validate(query), tenant, ports, of_disk=True)
    queues = {name: getattr(stats, name) for name in ("queue", "extraction_queue")}
    counts = {name: queue and (queue.waiting, queue.failing, queue.dead) for name, queue in queues.items()}
    return {**counts, "erasures": stats.erasures, "imports": stats.imports}


async def import_seen(side: Side, tenant: str, status: str, at: datetime) -> None:
    """Keep the state of an import of its own."""
    state = ImportJob.model_validate(
        {
            "job": f"{status} {at.timestamp()}",
            "address": "/import/x",
            "status": status,
            "created_at": at,
            "updated_at": at,
            "uploaded": 1,
            "bytes": 1,
            "report": ImportReport(dry_run=False),
        }
    )
    await JobRecord(side.graph, side.graph.record).put(tenant, state)


async def test_work_that_waits_or_runs_is_counted_for_its_tenant_alone(side: Side) -> None:
    items = [{"id": name, "text": f"The {name} is open."} for name in ("door", "gate")]
    stored = await side.ingest({"context": "c", "items": items}, "t", "a key, whose receipt is no import")
    await side.graph.write("t", "c", methodcaller("queue_extractions", [item.uid for item in stored.items]))
    claimed, _ = await side.graph.pending_extractions.claim(2, seconds=60)
    await side.graph.pending_extractions.postpone(claimed.item, seconds=0, error="is away")
    assert await told(side, "t") == {**NONE, "queue": (2, 0, 0), "extraction_queue": (2, 1, 0)}

    eraser = Eraser(side.graph, side.indexer.indexes, EdgeRegistry.with_core_types())
    erasure = await eraser.begin(await choose_items(side.graph, "t", ["door"], "c"), key=None)
    at = now()
    for status in ("running", "cancelling", "done", "failed"):
        await import_seen(side, "t", status, at)
    await import_seen(side, "t", "running", at - IMPORT_DEAD_AFTER - timedelta(seconds=1))
    found = await told(side, "t")
    assert (found["erasures"], found["imports"]) == (1, 2), "one of the imports is dead"
    assert await told(side, "u") == NONE, "nothing of it is another tenant's"
    assert set((await told(side, "t", viewer="Ana")).values()) == {None}, "hidden items would count"

    await eraser.run(erasure)
    await side.graph.erasures.end_erasure(erasure)
    assert (await told(side, "t"))["erasures"] == 0
