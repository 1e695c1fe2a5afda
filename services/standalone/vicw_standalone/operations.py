"""All operations that ``vicw serve`` answers."""

from __future__ import annotations

from vicw_ingest.erasure.api import OPERATIONS as ERASURE
from vicw_ingest.eviction.api import EVICT_ITEMS
from vicw_ingest.expiry.api import EXPIRE_ITEMS
from vicw_ingest.item_export.api import EXPORT_ITEMS
from vicw_ingest.jobs.api import OPERATIONS as JOBS
from vicw_runtime.keys.api import OPERATIONS as KEYS
from vicw_runtime.operations.operation import AnyOperation
from vicw_sleep.archive.api import OPERATIONS as ARCHIVE
from vicw_sleep.check.api import OPERATIONS as CHECKS
from vicw_sleep.consolidation.api import CONSOLIDATE
from vicw_sleep.dream.api import OPERATIONS as DREAMS
from vicw_sleep.history.api import OPERATIONS as HISTORY
from vicw_sleep.mirror.api import OPERATIONS as MIRROR
from vicw_sleep.reconcile.api import RECONCILE
from vicw_sleep.reindex.api import OPERATIONS as REINDEX
from vicw_sleep.resolve.api import RESOLVING

OPERATIONS: tuple[AnyOperation, ...] = (
    *CHECKS,
    RECONCILE,
    EXPIRE_ITEMS,
    EXPORT_ITEMS,
    *ERASURE,
    EVICT_ITEMS,
    *MIRROR,
    *REINDEX,
    *ARCHIVE,
    CONSOLIDATE,
    *DREAMS,
    RESOLVING,
    *HISTORY,
    *JOBS,
    *KEYS,
)
