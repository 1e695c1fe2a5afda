"""All operations that ``vicw serve`` answers."""

from __future__ import annotations

from vicw_ingest.erasure import api as erasure
from vicw_ingest.eviction.api import EVICT_ITEMS
from vicw_ingest.expiry.api import EXPIRE_ITEMS
from vicw_runtime.operations.operation import AnyOperation
from vicw_sleep.check.api import CHECK
from vicw_sleep.reconcile.api import RECONCILE

OPERATIONS: tuple[AnyOperation, ...] = (CHECK, RECONCILE, EXPIRE_ITEMS, *erasure.OPERATIONS, EVICT_ITEMS)
