"""What an export and an import need from a store, beyond its graph."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol

from vicw_shared.model import EdgeRegistry
from vicw_shared.ports import KeyRing, ModelIdentity, Store, VectorStore
from vicw_shared.progress import Yield


class ArchiveIndexes(Protocol):
    """The vector indexes of a store."""

    async def require_engine(self) -> None:
        """Raise UnavailableError if the engine does not answer."""
        ...

    async def read(self, model: ModelIdentity) -> VectorStore | None:
        """Return the vectors of the model in use; None if there are none, or they are lost."""
        ...

    async def fill(self, model: ModelIdentity) -> VectorStore | None:
        """Return the index for vectors of a model; None if the store has another model.

        A store without a model adopts that one.
        """
        ...


class ArchiveStores(Protocol):
    """The open stores. ``alone``: no other process uses them."""

    @property
    def graph(self) -> Store: ...  # noqa: D102
    @property
    def keys(self) -> KeyRing: ...  # noqa: D102
    @property
    def registry(self) -> EdgeRegistry: ...  # noqa: D102
    @property
    def data_dir(self) -> Path | None: ...  # noqa: D102
    @property
    def yield_to_foreground(self) -> Yield: ...  # noqa: D102
    @property
    def archive_indexes(self) -> ArchiveIndexes: ...  # noqa: D102
    @property
    def alone(self) -> bool: ...  # noqa: D102

    def without_jobs(self) -> AbstractAsyncContextManager[None]:
        """Stop the jobs of this process for the block: they must not meet a store that is imported in part."""
        ...
