"""An erasure from its beginning to its proof, whatever the stores."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from vicw_ingest.erasure.service import ErasureReport
from vicw_shared.fingerprints import Fingerprints
from vicw_sleep.residue_scan import Residue
from vicw_standalone.erasure.files import UnreadableCopyError, copies_in, look_through_copy


@dataclass(slots=True)
class ErasureProof:
    """What a search has found: ``places`` of the stores where something is left, and ``copies`` that have it.

    ``read`` bytes of files were looked through, and so many copies ``searched`` (None: no folder was named);
    ``unreadable`` says of copies why they could not be. ``missing`` folders of copies are not there any more.
    ``empty``: there was nothing to look for, since nothing went. ``waiting`` passages are not what the graph says of
    them yet.
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
class Ended:
    """An erasure that was gone through: what went in this run, and what the search has found."""

    erasure: str
    done: ErasureReport
    proof: ErasureProof


type Search = Callable[[Residue], Awaitable[int]]
"""Looks through the stores and their files; returns how many bytes of files."""


async def prove(fingerprints: Fingerprints, search: Search, folders: list[Path], data_dir: Path | None) -> ErasureProof:
    """Search the stores, then every copy in these folders by itself; a folder that is not there has none."""
    remains = Residue.of(fingerprints)
    proof = ErasureProof(read=await search(remains), empty=not fingerprints.marks)
    proof.places = remains.residual_places()
    proof.missing = [folder for folder in folders if not folder.exists()]
    copies = copies_in([folder for folder in folders if folder not in proof.missing], data_dir)
    for copy in copies:
        found = Residue(remains.finder, live=remains.live)
        try:
            look_through_copy(copy, found)
        except UnreadableCopyError as error:
            proof.unreadable.append(str(error))
        if found.residual_places():
            proof.copies.append(copy)
    proof.searched = len(copies) if folders else None
    return proof
