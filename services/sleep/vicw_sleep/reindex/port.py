"""What a change of the model needs from the engines: an index per model, and the indexer that writes to one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from vicw_runtime.indexes import Index
from vicw_shared.ports import ModelIdentity, Models
from vicw_shared.progress import Progress
from vicw_sleep.reindex.model import IndexStatus, ReindexProgress, ReindexReport

NAME_A_MODEL = "Name the model that computes them: `vicw reindex --model NAME`"


class IndexWriter(Protocol):
    """The indexer: it writes what waits in the outbox to the index in use, ``batch`` passages at a time."""

    batch: int

    @property
    def require_room(self) -> Callable[[], None]:
        """What raises StorageFullError while the index has no room to grow."""
        ...

    async def drain(self, on_progress: Callable[[int], None]) -> object:
        """Index until no entry is due; ``on_progress`` receives the number of settled entries of each batch."""
        ...


@dataclass(frozen=True, slots=True)
class NewIndex:
    """An index to be filled. Once it is in use, ``writer`` writes to it.

    ``source`` is the value of the model's setting, if that differs from the model's name.
    """

    index: Index
    writer: IndexWriter
    source: str | None = None


class IndexEngine(Protocol):
    """Holds the vector indexes of a store, one per model, beside each other."""

    @property
    def command(self) -> str:
        """The command that changes the model of this store, for messages."""
        ...

    async def require(self, name: str | None, models: Models) -> None:
        """Raise ModelMismatchError, SettingsError or UnavailableError if ``make`` would."""
        ...

    async def make(self, name: str | None, models: Models) -> NewIndex:
        """Open the index of the model ``name``, or create it; an unreadable one is replaced.

        Without a name, it is the model of the change in progress, or else the one in use. Raises ModelMismatchError or
        SettingsError if there is no such model, MissingRecordError if the store has none yet, UnavailableError,
        StorageFullError.
        """
        ...

    async def known(self) -> None:
        """Return when all readers and writers of vectors act on the record as of this call."""
        ...

    async def swap(self, new: NewIndex) -> None:
        """Switch those that do not read the record to the new index. It may run twice."""
        ...

    async def ended(self, new: NewIndex, report: ReindexReport | None) -> None:
        """Release what a run opened; ``report`` None: it failed. Requests that read the previous index can finish."""
        ...

    async def sizes(self, models: Models) -> Mapping[ModelIdentity, int | None]:
        """Return about how many points each index has; None: not known."""
        ...

    async def drop_unused(self, models: Models) -> list[ModelIdentity]:
        """Remove the indexes of all models but the one in use; return their models."""
        ...


class ReindexRunner(Protocol):
    """Runs changes of the model of a store: in this process, or in the background of a server."""

    @property
    def work(self) -> ReindexProgress:
        """The state of the last run."""
        ...

    async def run(self, name: str | None, progress: Progress) -> ReindexReport:
        """Change to the model ``name``; without one, resume the change in progress, or repair the index in use."""
        ...

    async def status(self) -> IndexStatus:
        """Return the index in use, and the progress of a change."""
        ...

    async def drop_old(self) -> list[ModelIdentity]:
        """Remove unused indexes; return their models. Raises StateConflictError during a model change."""
        ...


class ReindexStores(Protocol):
    """The open stores."""

    @property
    def reindexing(self) -> ReindexRunner:
        """What changes their model."""
        ...
