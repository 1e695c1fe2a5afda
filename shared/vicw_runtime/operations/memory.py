"""The open stores that an operation works on: those of a server, of a closed data directory, or of a platform."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from vicw_runtime.schedule.jobs import ScheduleSettings
from vicw_shared.progress import Yield, yield_to_event_loop

if TYPE_CHECKING:  # every command imports this module
    from vicw_runtime.indexes import Indexes
    from vicw_shared.model import EdgeRegistry
    from vicw_shared.ports import EngineFiles, KeyRing, LanguageModel, MirrorFiles, Store, VectorStore, WorkQueue
    from vicw_shared.settings import (
        IngestSettings,
        LlmSettings,
        MirrorSettings,
    )


class MemorySettings(ScheduleSettings, Protocol):
    """The settings that operations read, beside those of schedules; of the process that has the stores open."""

    @property
    def ingest(self) -> IngestSettings: ...  # noqa: D102
    @property
    def mirror(self) -> MirrorSettings: ...  # noqa: D102
    @property
    def llm(self) -> LlmSettings: ...  # noqa: D102


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """The graph and what is found without an embedding model.

    In a server, calls of ``graph`` and of the vectors yield to requests. ``open_vectors`` returns the vector index in
    use, None if the store has no vectors; it raises UnavailableError if the index is missing. ``queue`` and
    ``extraction_queue`` wake the processes that index passages and have items extracted. ``data_dir``: None on a
    platform. ``alone``: no other process uses the stores. ``has_vectors``: by the settings, passages are embedded.
    """

    settings: MemorySettings
    registry: EdgeRegistry
    graph: Store
    keys: KeyRing
    open_vectors: Callable[[], Awaitable[VectorStore | None]]
    queue: WorkQueue
    extraction_queue: WorkQueue
    data_dir: Path | None = None
    alone: bool = False
    has_vectors: bool = True
    yield_to_foreground: Yield = yield_to_event_loop


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory(Stores):
    """The stores with the embedders of their indexes, and the language model if there is one.

    ``index_queued`` indexes what is queued for the index, for a limited time, or wakes the processes that do. ``files``
    are those of the engines, None if these are servers; ``mirror`` is the one of the settings, None if there is none
    here.
    """

    indexes: Indexes
    model: LanguageModel | None = None
    index_queued: Callable[[], Awaitable[None]]
    files: EngineFiles | None = None
    mirror: MirrorFiles | None = None
