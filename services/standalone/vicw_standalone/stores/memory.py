"""What operations get here, beyond what the runtime knows of: what makes and fills vector indexes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass

from vicw_runtime.operations import Memory, Stores
from vicw_sleep.archive.port import ArchiveIndexes
from vicw_sleep.reindex.port import ReindexRunner


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenStores(Stores):
    """Stores, and what makes and fills their indexes."""

    reindexing: ReindexRunner
    archive_indexes: ArchiveIndexes
    without_jobs: Callable[[], AbstractAsyncContextManager[None]] = nullcontext


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedMemory(Memory):
    """The memory of a server, with what makes and fills its indexes."""

    reindexing: ReindexRunner
    archive_indexes: ArchiveIndexes
    without_jobs: Callable[[], AbstractAsyncContextManager[None]]
