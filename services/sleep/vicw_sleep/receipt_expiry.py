"""Forget what is kept for a time only (design: "Sleep cycle", forget)."""

from __future__ import annotations

import time
from datetime import datetime

from vicw_shared.ports import StoreRecord

_AT_ONCE = 50
"""Receipts that one transaction removes: each may be some hundred kB."""


async def forget_receipts(record: StoreRecord, before: datetime, *, seconds: float) -> int:
    """Remove receipts of all tenants that were created before an instant, for so many seconds; return how many.

    A tenant that writes forgets its own; these are of those that do not any more. What is left is for the next time.
    """
    forgotten, until = 0, time.monotonic() + seconds
    while time.monotonic() < until:
        count = await record.forget_receipts(before, limit=_AT_ONCE)
        forgotten += count
        if count < _AT_ONCE:
            break
    return forgotten
