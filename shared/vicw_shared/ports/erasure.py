"""Ports of erasure (docs/decisions/0029): records of erasures in progress, and the files outside the stores' reach.

A record lists the remaining work, so that running the command again finishes an interrupted erasure. It holds no text:
uids while the graph is emptied, then only hashes of the erased data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ErasurePart:
    """One part of the record of an ``erasure`` (a uid) of a tenant.

    The first part has ``number`` 0; the others have one number each, in no order. ``body`` is JSON.
    """

    erasure: str
    number: int
    tenant: str
    body: Mapping[str, object] = field(default_factory=dict)


class Erasures(Protocol):
    """Erasure records of all tenants."""

    async def erasures(self) -> list[ErasurePart]:
        """Return all records, ordered by erasure and number."""
        ...

    async def pending(self, tenant: str) -> int:
        """Return the number of a tenant's erasures that have a record: they have not ended."""
        ...

    async def erased(self) -> int:
        """Return the number of erasures. Copies outside the store are rebuilt when this number changes."""
        ...

    async def count_erasure(self) -> None:
        """Increment the number of erasures."""
        ...

    async def end_erasure(self, erasure: str) -> None:
        """Remove the records of an erasure. An unknown erasure is ignored."""
        ...


class EngineFiles(Protocol):
    """The files of engines that run in this process."""

    @property
    def data_dir(self) -> Path:
        """The folder with all of them."""
        ...

    async def rewrite(self) -> None:
        """Write all of them anew, so that none has deleted data. The engines answer meanwhile.

        Raises StorageFullError or UnavailableError; the files are as before then.
        """
        ...


class MirrorFiles(Protocol):
    """The mirror of a tenant's memory on this machine."""

    @property
    def path(self) -> Path:
        """The folder with its pages."""
        ...

    async def build(self) -> object:
        """Write it anew. Raises StateConflictError while another process writes to it."""
        ...
