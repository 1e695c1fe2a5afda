"""A job of the sleep cycle that is asked for over HTTP is run by the worker, without a clock: real Redis and Neo4j."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest

from integration.queue.conftest import DATABASE, Start, until
from support.processes.platform import SLEEPER, WORKER
from support.servers.redis import RedisServer
from vicw_ingest.app import create_ingest_app
from vicw_ingest.audit.service import list_changes
from vicw_ingest.pipeline import ingest
from vicw_ingest.wiring import IngestWiring
from vicw_runtime.queue.celery_queue import SLEEP_QUEUE, waiting
from vicw_shared.clock import now
from vicw_shared.ports import JobRun, Steps
from vicw_shared.wire.changes import AuditQuery
from vicw_shared.wire.ingest import IngestRequest

pytestmark = pytest.mark.process
THINGS = "amulet lighthouse violin bakery orchard telescope ferry castle notebook glacier parrot harbour".split()
AT_ONCE = {"VICW_CONSOLIDATE_HOURS": "0", "VICW_CONSOLIDATE_USED_HOURS": "0", "VICW_CONSOLIDATE_BATCHES": "2"}


async def test_a_worker_runs_an_asked_job_once_and_anew_when_it_is_asked_again(
    start: Start, wiring: IngestWiring, redis_server: RedisServer
) -> None:
    graph, transport = wiring.engines.graph, httpx.ASGITransport(create_ingest_app(wiring))

    async def ask() -> None:
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
            answer = await http.post("/sleep/run", json={"job": "consolidation"})
            assert (answer.status_code, answer.json()) == (202, {"job": "consolidation"})

    async def indexed() -> bool:
        return (await graph.outbox.backlog()).waiting == 0

    async def last_run() -> JobRun | None:
        return next((run for run in await graph.log.job_runs() if run.task == "consolidation"), None)

    async def ran_since(earlier: JobRun | None) -> bool:
        run = await last_run()
        return run is not None and run.over and (earlier is None or run.began > earlier.began)

    async def consolidated() -> list[str]:
        return [step.outcome for step in await graph.scan(Steps(task="consolidate"), limit=9)]

    items = [{"id": thing, "text": f"We talked about the {thing} of Porto.", "flow_id": "f"} for thing in THINGS]
    request = IngestRequest.model_validate({"context": "c", "items": items, "extract": "rules", "wait": False})
    await ingest(request, "default", wiring.ports)
    start("worker", *WORKER)
    await until(indexed, 60)

    for _ in range(3):
        await ask()
    with redis_server.client(DATABASE) as redis:
        assert waiting(redis, SLEEP_QUEUE) == 1, "it is not sent again before it has begun"
    start("sleeper", *SLEEPER, **AT_ONCE)
    await until(lambda: ran_since(None), 60)
    assert await consolidated() == ["done"] * 3

    first = await last_run()
    await ask()
    await until(lambda: ran_since(first), 60)
    assert await consolidated() == ["done"] * 3, "there was nothing left to do"
    kept = await list_changes(graph, "default", AuditQuery(), now() - timedelta(days=1))
    assert [(record.kind, record.count) for record in kept.records] == [("run", 1)] * 4
