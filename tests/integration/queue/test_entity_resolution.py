"""The sleep worker merges duplicates, one message a turn: real Redis and Neo4j."""

from __future__ import annotations

from typing import Any

import pytest

from integration.queue.conftest import DATABASE, Start, until
from support.processes.platform import SLEEPER
from support.servers.redis import RedisServer
from vicw_core.identity.merge import MergeDecision
from vicw_ingest.identity.changes import merge
from vicw_ingest.pipeline import ingest
from vicw_ingest.wiring import IngestWiring
from vicw_runtime.queue.celery_queue import RESOLVE, make_celery
from vicw_runtime.upkeep.service import step_to_undo
from vicw_shared.clock import now
from vicw_shared.errors import MissingRecordError
from vicw_shared.ports import Outcome, Steps
from vicw_shared.ports.sleep import AUDIT
from vicw_shared.settings import RedisSettings
from vicw_shared.wire.ingest import IngestRequest
from vicw_sleep.schedule.job_lock import key_of

pytestmark = pytest.mark.process
_FAMILIES = ("Alves", "Berg", "Costa")


def item(name: str) -> dict[str, Any]:
    entities = [{"name": name, "subtype": "person"}, *({"name": n, "subtype": "place"} for n in ("Oslo", "Bergen"))]
    return {"id": name, "text": f"{name} went from Oslo to Bergen.", "extraction": {"entities": entities}}


async def test_the_sleep_worker_resolves_duplicates_over_several_messages(
    start: Start, wiring: IngestWiring, redis_server: RedisServer
) -> None:
    graph = wiring.engines.graph
    told = [item(f"Jos{letter} {family}") for family in _FAMILIES for letter in "eé"]
    request = IngestRequest.model_validate({"context": "c", "items": told, "extract": "caller", "wait": False})
    await ingest(request, "t", wiring.ports)
    worker = start("sleeper", *SLEEPER, "-l", "info", VICW_RESOLVE_PAIRS="1")
    make_celery("test", RedisSettings.model_validate({"url": redis_server.database(DATABASE)})).send_task(RESOLVE)

    async def through() -> bool:
        with redis_server.client(DATABASE) as client:
            ended = not client.exists(key_of(RESOLVE))
        return ended and len(await graph.scan(Steps(tenant="t"), limit=9)) == len(_FAMILIES)

    await until(through, 60)
    steps = await graph.scan(Steps(tenant="t", task="resolve"), limit=9)
    assert len({step.subject for step in steps}) == len(_FAMILIES)
    assert worker.log.count("merged entities") == len(_FAMILIES), "each by a message of its own"
    undo, (wrong, confirmed, _) = wiring.undo, steps
    undone = await undo.undo(await step_to_undo(graph.log, "t", wrong.id, undo.grace), "k1")
    assert undone.outcome is Outcome.UNDONE
    (record,) = await graph.scan(Steps(tenant="t", task=AUDIT), limit=9)
    assert (record.reason, record.details["key"]) == ("undo", "k1")
    with pytest.raises(MissingRecordError, match="cannot be undone"):
        await undo.undo(await step_to_undo(graph.log, "t", record.id, undo.grace), "k1")
    assert await graph.log.step(record.id) == record, "the record of a change is no step of the sleep cycle"
    decision = MergeDecision("t", now(), wiring.registry)
    assert await merge(graph, decision, confirmed.subject, str(confirmed.details["into"])), "a person confirms it"
    for _ in range(2):
        with pytest.raises(MissingRecordError, match="confirmed by a person"):
            await undo.undo(await step_to_undo(graph.log, "t", confirmed.id, undo.grace), None)
    logged = await graph.log.step(confirmed.id)
    assert logged is not None
    assert (logged.outcome, "confirmed by a person" in logged.reason) == (Outcome.DONE, True)
