"""That what has expired goes by itself, in the one process and in a worker's turn."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from support.fakes.hash_embedder import HashEmbedder
from support.stores.memory import Memory, settings_for
from vicw_ingest.expiry.service import Expiry
from vicw_shared.clock import now
from vicw_shared.errors import UnavailableError
from vicw_shared.model import EdgeRegistry
from vicw_shared.ports import look_up
from vicw_standalone.wiring import Standalone


async def test_standalone_retires_expired_items_by_itself(store: Path) -> None:
    settings = settings_for(store)
    settings = type(settings)(
        **{name: getattr(settings, name) for name in type(settings).__dataclass_fields__ if name != "ingest"},
        ingest=settings.ingest.model_copy(update={"expiry_seconds": 0.05}),
    )
    standalone = Standalone(settings, HashEmbedder())
    await standalone.open()
    try:
        standalone.start_indexer()
        memory = Memory(standalone, HashEmbedder())
        ends = now() + timedelta(seconds=3)  # it must still be there when it is looked for
        await memory.ingest({"id": "a", "text": "Ana is away.", "speaker": "Ana", "expires_at": ends.isoformat()})
        assert "ana" in await look_up(standalone.graph, "default", ["ana"])
        for _ in range(200):
            if await look_up(standalone.graph, "default", ["ana"]) == {}:
                break
            await asyncio.sleep(0.05)
        assert await look_up(standalone.graph, "default", ["ana"]) == {}
        for _ in range(100):
            if not (report := await memory.check()).waiting:
                break
            await asyncio.sleep(0.05)
        assert (report.violations, report.waiting) == ([], 0)
    finally:
        await standalone.close()


async def test_a_failed_expiry_run_is_logged_and_retried_later(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    over = (now() - timedelta(days=1)).isoformat()
    await memory.ingest({"id": "a", "text": "Over.", "expires_at": over})
    graph, write = memory.standalone.graph, memory.standalone.graph.write

    async def away(*arguments: object) -> None:
        raise UnavailableError("graph", "is down")

    expiry = Expiry(graph, EdgeRegistry.with_core_types(), memory.standalone.indexer)
    monkeypatch.setattr(graph, "write", away)
    with capture_logs() as logs:
        await expiry.run_once()
    assert [log["event"] for log in logs] == ["expired items could not be retired; retried at the next run"]
    monkeypatch.setattr(graph, "write", write)
    assert await expiry.drain(seconds=0) == 0, "its turn is over before it begins"
    assert await expiry.drain() == 1
    assert await expiry.drain() == 0
