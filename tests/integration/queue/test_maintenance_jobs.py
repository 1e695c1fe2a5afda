"""What the platform's workers do at night, and of what has grown by day, turn by turn: real Redis and Neo4j."""

from __future__ import annotations

from functools import partial

import pytest

from integration.queue.conftest import DATABASE, Start, until
from support.processes.platform import SLEEPER, WORKER
from support.servers.redis import RedisServer
from vicw_ingest.pipeline import ingest
from vicw_ingest.wiring import IngestWiring
from vicw_runtime.queue.celery_queue import CATCH_UP, CONSOLIDATE, EVICT, make_celery
from vicw_runtime.schedule.jobs import CATCH_UP_CONSOLIDATION
from vicw_shared.ports import Flow, FlowEvents, Steps
from vicw_shared.settings import RedisSettings
from vicw_shared.wire.ingest import IngestRequest

pytestmark = pytest.mark.process
THINGS = "amulet lighthouse violin bakery orchard telescope ferry castle notebook glacier parrot harbour".split()


async def test_catch_up_consolidates_grown_contexts_and_the_nightly_job_the_rest(
    start: Start, wiring: IngestWiring, redis_server: RedisServer
) -> None:
    graph = wiring.engines.graph
    app = make_celery("test", RedisSettings.model_validate({"url": redis_server.database(DATABASE)}))

    async def tell(context: str, town: str) -> None:
        texts = [f"We talked about the {thing} of {town}." for thing in THINGS]
        items = [{"id": f"{town}{n}", "text": text, "flow_id": town} for n, text in enumerate(texts)]
        request = IngestRequest.model_validate({"context": context, "items": items, "extract": "rules", "wait": False})
        await ingest(request, "t", wiring.ports)
        await until(indexed, 60)

    async def indexed() -> bool:
        return (await graph.outbox.backlog()).waiting == 0

    async def consolidated(count: int) -> bool:
        return len(await graph.scan(Steps(), limit=99)) == count

    async def small_alone() -> bool:
        return [one.context for one in await graph.log.contexts_with_arrivals(1, limit=9)] == ["small"]

    start("worker", *WORKER)
    await tell("large", "Porto")
    await tell("large", "Lima")
    await tell("small", "Oslo")
    often = {"VICW_CONSOLIDATE_INTERACTIONS": "20", "VICW_CONSOLIDATE_HOURS": "0", "VICW_CONSOLIDATE_BATCHES": "2"}
    start("sleeper", *SLEEPER, **often)
    app.send_task(CATCH_UP)
    await until(lambda: consolidated(6), 60)
    await until(small_alone, 10)
    app.send_task(CONSOLIDATE)
    await until(lambda: consolidated(9), 60)

    async def over() -> bool:
        through = {one.task: one.slices > 1 for one in await graph.log.job_runs() if one.over}
        return through == {"consolidation": True, CATCH_UP_CONSOLIDATION: True}

    await until(over, 20)


async def test_the_eviction_job_erases_items_over_the_limit(
    start: Start, wiring: IngestWiring, redis_server: RedisServer
) -> None:
    graph = wiring.engines.graph
    app = make_celery("test", RedisSettings.model_validate({"url": redis_server.database(DATABASE)}))
    items = [{"id": thing, "text": f"We saw the {thing}.", "flow_id": "f"} for thing in THINGS]
    request = IngestRequest.model_validate({"context": "c", "items": items, "extract": "rules", "wait": False})
    await ingest(request, "t", wiring.ports)

    async def indexed() -> bool:
        return (await graph.outbox.backlog()).waiting == 0

    async def left(count: int) -> bool:
        return len(await graph.scan(FlowEvents(Flow("t", "c", "f")), limit=99)) == count

    little = {"VICW_EVICTION_ITEMS": "5", "VICW_EVICTION_DAYS": "0", "VICW_EVICTION_BATCH": "4"}
    start("worker", *WORKER, **little)
    await until(indexed, 60)
    app.send_task(EVICT)
    await until(partial(left, 5), 60)
    await until(indexed, 60)
    assert await graph.erasures.erasures() == []
    assert [one.task for one in await graph.log.job_runs()] == ["eviction"]
