"""The port to the notes of erasures that are under way (docs/decisions/0029).

A note says what is still to be done, so that whoever runs the command again ends what a kill has left. It holds no
text: uids while the graph is emptied, then nothing but hashes of what went.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ErasureNote:
    """A part of what is noted of an ``erasure`` (a uid) of a tenant; the first has ``number`` 0, the others
    one each, in no order. ``body`` is JSON.
    """

    erasure: str
    number: int
    tenant: str
    body: Mapping[str, object] = field(default_factory=dict)


class Erasures(Protocol):
    """The erasures of all tenants."""

    async def erasures(self) -> list[ErasureNote]:
        """Return all notes, by erasure and number."""
        ...

    async def erased(self) -> int:
        """Return how often something was erased: whoever keeps a copy makes it anew when that changes."""
        ...

    async def count_erasure(self) -> None:
        """Note that something was erased."""
        ...

    async def end_erasure(self, erasure: str) -> None:
        """Remove the notes of an erasure; of one that is not there nothing happens."""
        ...
