"""Proof of an erasure, for all kinds of stores."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from vicw_ingest.erasure.eraser import ErasureReport
from vicw_ingest.erasure.files import UnreadableCopyError, copies_in, search_copy
from vicw_ingest.erasure.fingerprints import Fingerprints
from vicw_ingest.erasure.residue_scan import Residue


@dataclass(slots=True)
class ErasureProof:
    """Result of a search: ``places`` in the stores and ``copies`` that still have erased data.

    ``read``: bytes of files searched. ``searched``: number of copies (None: no folder was named). ``unreadable``:
    messages about copies that could not be searched. ``missing``: folders of copies that no longer exist. ``empty``:
    nothing was erased, so there was nothing to search for. ``waiting``: passages whose points are not updated yet.
    """

    places: list[str] = field(default_factory=list)
    copies: list[Path] = field(default_factory=list)
    read: int = 0
    searched: int | None = None
    unreadable: list[str] = field(default_factory=list)
    missing: list[Path] = field(default_factory=list)
    empty: bool = False
    waiting: int = 0

    @property
    def holds(self) -> bool:
        """Whether nothing is left anywhere."""
        return not self.places and not self.copies and not self.unreadable


@dataclass(frozen=True, slots=True)
class FinishedErasure:
    """A completed run of an erasure: the nodes erased in this run, and the result of the search."""

    erasure: str
    done: ErasureReport
    proof: ErasureProof


type Search = Callable[[Residue], Awaitable[int]]
"""Searches the stores and their files; returns the number of bytes of files read."""


type Explain = Callable[[Residue], Awaitable[None]]
"""Looks for what remaining data says itself of what was found."""


async def prove(
    fingerprints: Fingerprints, search: Search, explain: Explain, folders: list[Path], data_dir: Path | None
) -> ErasureProof:
    """Search the stores, then each copy in these folders; a missing folder has none."""
    residue = Residue.of(fingerprints)
    proof = ErasureProof(read=await search(residue), empty=not fingerprints.marks)
    proof.places = residue.residual_places()
    proof.missing = [folder for folder in folders if not folder.exists()]
    there = [folder for folder in folders if folder not in proof.missing]
    copies = await asyncio.to_thread(copies_in, there, data_dir)
    in_copies = Residue(residue.finder, live=residue.live)
    for copy in copies:
        try:
            await asyncio.to_thread(search_copy, copy, in_copies)
        except UnreadableCopyError as error:
            proof.unreadable.append(str(error))
    await explain(in_copies)
    found = in_copies.residual_places()
    proof.copies = [copy for copy in copies if str(copy) in found]
    proof.searched = len(copies) if folders else None
    return proof
