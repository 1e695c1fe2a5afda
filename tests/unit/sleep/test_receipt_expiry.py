"""What is kept for a time is forgotten in parts, by whoever writes and by a sleeper for those who do not."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from pathlib import Path

from support.stores.memory import Memory, open_memory
from vicw_shared.clock import now
from vicw_shared.ports import GraphTransaction, Receipt
from vicw_sleep.reconcile.receipts import forget_receipts

OLD = 130


def old_receipts(when: datetime) -> Callable[[GraphTransaction], Awaitable[None]]:
    async def keep(transaction: GraphTransaction) -> None:
        for number in range(OLD):
            await transaction.put_receipt(Receipt(f"k{number}", "print", when, {}))

    return keep


async def receipts_left(memory: Memory, tenant: str) -> int:
    graph = memory.standalone.graph
    return len([number for number in range(OLD) if await graph.record.receipt(tenant, f"k{number}") is not None])


async def test_each_request_of_a_tenant_deletes_a_few_expired_receipts(memory: Memory) -> None:
    await memory.standalone.graph.write(memory.tenant, "c", old_receipts(now() - timedelta(days=30)))
    await memory.ingest({"text": "a pear"}, key="one")
    assert await receipts_left(memory, memory.tenant) == OLD - 20
    await memory.ingest({"text": "an apple"}, key="two")
    assert await receipts_left(memory, memory.tenant) == OLD - 40


async def test_forget_receipts_deletes_only_expired_receipts_within_its_time(memory: Memory) -> None:
    graph, today = memory.standalone.graph, now()
    await graph.write("gone", "c", old_receipts(today - timedelta(days=30)))
    await graph.write("here", "c", old_receipts(today))
    before = today - timedelta(days=7)
    assert await forget_receipts(graph.record, before, seconds=0) == 0
    assert await forget_receipts(graph.record, before, seconds=60) == OLD
    assert (await receipts_left(memory, "gone"), await receipts_left(memory, "here")) == (0, OLD)


async def test_expired_receipts_are_deleted_when_a_store_is_opened(store: Path) -> None:
    async with open_memory(store) as memory:
        await memory.standalone.graph.write("gone", "c", old_receipts(now() - timedelta(days=30)))
    async with open_memory(store) as memory:
        assert await receipts_left(memory, "gone") == 0
