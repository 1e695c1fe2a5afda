"""Receipts of writes are kept for a time (``VICW_INGEST_RECEIPT_HOURS``)."""

from __future__ import annotations

import time
from datetime import datetime

from vicw_shared.ports import StoreRecord

_BATCH = 50
"""Receipts removed in one transaction: each may have some hundred kB."""


async def forget_receipts(record: StoreRecord, before: datetime, *, seconds: float) -> int:
    """Remove receipts of all tenants created before an instant, for at most ``seconds``; return how many.

    A tenant that writes removes its own; these belong to tenants that stopped writing. The next run removes the rest.
    """
    forgotten, deadline = 0, time.monotonic() + seconds
    while time.monotonic() < deadline:
        count = await record.forget_receipts(before, limit=_BATCH)
        forgotten += count
        if count < _BATCH:
            break
    return forgotten
