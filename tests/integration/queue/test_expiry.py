"""The platform's worker retires what has expired, at the latest when the clock wakes it: real Redis and Neo4j."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from integration.queue.conftest import Start, until
from support.processes.platform import WORKER
from vicw_ingest.pipeline import ingest
from vicw_ingest.wiring import IngestWiring
from vicw_shared.clock import now
from vicw_shared.model import Label, Node
from vicw_shared.ports import Nodes
from vicw_shared.wire.ingest import IngestRequest

pytestmark = pytest.mark.process


async def live(wiring: IngestWiring) -> dict[str | None, Node]:
    """Return live items by their ids, live names by themselves."""
    found = [node for label in Label for node in await wiring.engines.graph.scan(Nodes(label), limit=1000)]
    return {node.source_id or node.name: node for node in found if node.retired_at is None}


async def test_the_worker_retires_expired_items_when_woken_by_request_or_beat(
    start: Start, wiring: IngestWiring
) -> None:
    graph = wiring.engines.graph

    async def tell(*items: dict[str, Any]) -> None:
        request = IngestRequest.model_validate({"context": "c", "items": items, "extract": "rules", "wait": False})
        await ingest(request, "t", wiring.ports)

    async def over(item: str) -> bool:
        return (await graph.outbox.backlog()).waiting == 0 and item not in await live(wiring)

    worker = start("worker", *WORKER)
    before = (now() - timedelta(hours=1)).isoformat()
    await tell(
        {"id": "lasting", "text": "Mara waited in Lisbon."},
        {"id": "over", "text": "Ben slept in Porto.", "expires_at": before},
    )
    await until(lambda: over("over"), 60)
    left = await live(wiring)
    assert {"lasting", "Mara", "Lisbon"} <= left.keys()
    assert left.keys().isdisjoint({"Ben", "Porto"}), "only what is over told of them"

    soon = now() + timedelta(seconds=3)
    await tell({"id": "soon over", "text": "Clara left for Lyon.", "expires_at": soon.isoformat()})
    stored = (await live(wiring))["soon over"]
    start("beat", "vicw_sleep.beat", VICW_REDIS_POLL_SECONDS="1")
    await until(lambda: over("soon over"), 60)
    left = await live(wiring)
    assert {"lasting", "Mara", "Lisbon"} <= left.keys()
    assert left.keys().isdisjoint({"Clara", "Lyon"})
    retired = (await graph.nodes("t", [stored.uid]))[stored.uid]
    assert retired.valid_to == soon
    assert retired.retired_at is not None
    assert retired.retired_at >= soon
    assert worker.log.count("expired items retired") == 2
