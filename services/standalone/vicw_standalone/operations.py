"""All operations that ``vicw serve`` answers."""

from __future__ import annotations

from vicw_runtime.operations.operation import AnyOperation
from vicw_sleep.check.api import CHECK
from vicw_sleep.mirror.api import OPERATIONS as MIRROR
from vicw_sleep.reconcile.api import RECONCILE

OPERATIONS: tuple[AnyOperation, ...] = (CHECK, RECONCILE, *MIRROR)
