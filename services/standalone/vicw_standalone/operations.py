"""All operations that ``vicw serve`` answers."""

from __future__ import annotations

from vicw_runtime.operations.operation import AnyOperation
from vicw_sleep.archive.api import OPERATIONS as ARCHIVE
from vicw_sleep.check.api import CHECK
from vicw_sleep.mirror.api import OPERATIONS as MIRROR
from vicw_sleep.reconcile.api import RECONCILE
from vicw_sleep.reindex.api import OPERATIONS as REINDEX

OPERATIONS: tuple[AnyOperation, ...] = (CHECK, RECONCILE, *MIRROR, *REINDEX, *ARCHIVE)
