"""Words port: how far the words stored with the passages are those of this program's analyser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class StoredWords(Protocol):
    """The words of a store's full text, by the version of the analyser that made them.

    A new store has this program's version. One of an earlier version is converted page by page, in the order of the
    Chunks' uids, while it serves; everything written meanwhile has the new words already.
    """

    async def converted(self) -> str | None:
        """Return the uid up to which all Chunks have this program's words ("": none has); None: all have."""
        ...

    async def lock(self, holder: str, *, seconds: float) -> bool:
        """Acquire or renew the lock of the conversion; return False while another ``holder`` has it.

        It expires after ``seconds``; 0 releases it.
        """
        ...

    async def renew(self, chunks: Sequence[str], *, holder: str) -> bool:
        """Make the full-text words of these Chunks anew, the next ones by uid, count their terms, and record it.

        That is one transaction. Unknown uids are ignored. Returns False, and changes nothing, if ``holder`` does not
        have the lock.
        """
        ...

    async def complete(self, *, holder: str) -> bool:
        """Record that all Chunks have this program's words; return False if ``holder`` does not have the lock."""
        ...
