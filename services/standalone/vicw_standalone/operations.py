"""All operations that ``vicw serve`` answers."""

from __future__ import annotations

from vicw_ingest.erasure.api import OPERATIONS as ERASURE
from vicw_ingest.eviction.api import EVICT_ITEMS
from vicw_ingest.expiry.api import EXPIRE_ITEMS
from vicw_ingest.jobs.api import LIST_FAILURES, REPLAY, SHOW_JOB
from vicw_runtime.keys.api import CREATE_KEY, LIST_KEYS, REVOKE_KEY
from vicw_runtime.operations.operation import AnyOperation
from vicw_sleep.check.api import CHECK
from vicw_sleep.consolidation.api import CONSOLIDATE
from vicw_sleep.dream.api import DREAMING, WIPE
from vicw_sleep.history.api import LOG, STATUS, UNDO
from vicw_sleep.mirror.api import OPERATIONS as MIRROR
from vicw_sleep.reconcile.api import RECONCILE
from vicw_sleep.resolve.api import RESOLVING

OPERATIONS: tuple[AnyOperation, ...] = (
    CHECK,
    RECONCILE,
    EXPIRE_ITEMS,
    *ERASURE,
    EVICT_ITEMS,
    *MIRROR,
    CONSOLIDATE,
    DREAMING,
    WIPE,
    RESOLVING,
    LOG,
    STATUS,
    UNDO,
    LIST_FAILURES,
    SHOW_JOB,
    REPLAY,
    CREATE_KEY,
    LIST_KEYS,
    REVOKE_KEY,
)
