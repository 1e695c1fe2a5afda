"""Forgetting: record → erase → update what stays → rewrite files → search for what is left → end (docs/decisions/0029).

The same over the stores of a running server, of a closed data directory, and of a platform. A kill at any moment leaves
the record of the remaining work, which any later run continues.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from vicw_ingest.erasure.eraser import Eraser, ErasureReport
from vicw_ingest.erasure.files import search_files, search_store
from vicw_ingest.erasure.proof import FinishedErasure, prove
from vicw_ingest.erasure.record import copies_of, fingerprints_of, record_copies
from vicw_ingest.erasure.residue_scan import Residue, explain, rescan_points, scan_store
from vicw_ingest.erasure.selection import ErasureSelection
from vicw_shared.errors import FieldProblem, InvalidInputError, StateConflictError
from vicw_shared.ports import EngineFiles, MirrorFiles, Store, VectorStore
from vicw_shared.progress import Progress, silent

WAIT_SECONDS = 60.0
"""Longest wait for a mirror that is in use, and for points to be updated."""
_POLL_SECONDS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting:
    """Erase for good, and prove it. Any number may run at once.

    ``index_queued`` has the passages indexed that changed with an erasure, or wakes those who do that. ``files``: None
    if this process cannot rewrite and search the engines' own files. Waits up to ``wait_seconds``
    for a mirror that is in use, and as long for points to be updated.
    """

    eraser: Eraser
    index_queued: Callable[[], Awaitable[None]]
    files: EngineFiles | None
    mirror: MirrorFiles | None
    wait_seconds: float
    progress: Progress = silent

    @property
    def graph(self) -> Store:
        """The graph."""
        return self.eraser.graph

    async def forget(
        self, selections: Sequence[ErasureSelection], copies: Sequence[Path] = ()
    ) -> tuple[list[str], list[FinishedErasure]]:
        """Erase these selections, and continue unfinished erasures. Return the uids of the new ones, and all results.

        Folders of ``copies`` are searched, too. Raises InvalidInputError for a missing folder, unless an unfinished
        erasure has recorded it: then it was removed since. Raises the engines' errors; a new run continues.
        """
        await self._require_folders(copies)
        begun = [await self.eraser.begin(chosen) for chosen in selections]
        done: dict[str, ErasureReport] = {}
        for erasure in await self.eraser.pending():
            await record_copies(self.graph, erasure, [*map(str, copies)])
            done[erasure] = await self.eraser.run(erasure)
        if not done:
            return begun, []
        self.progress("updating what stays", 0, 0)
        await self.index_queued()
        if self.mirror is not None:
            await self._rebuild(self.mirror)
        await self._rewrite_files()
        return begun, [await self._end(erasure, report) for erasure, report in done.items()]

    async def _require_folders(self, copies: Sequence[Path]) -> None:
        recorded = await copies_of(self.graph.erasures, await self.eraser.pending())
        for number, folder in enumerate(copies):
            if not await asyncio.to_thread(folder.exists) and str(folder) not in recorded:
                raise InvalidInputError(
                    FieldProblem(
                        f"copies[{number}]",
                        f"{folder} does not exist",
                        "Name a folder of exports or backups, or a single one",
                    )
                )

    async def _rebuild(self, mirror: MirrorFiles) -> None:
        """Rebuild a mirror; wait while another process or job writes to it."""
        until = time.monotonic() + self.wait_seconds
        while True:
            try:
                await mirror.build()
            except StateConflictError:
                if time.monotonic() > until:
                    raise
                await asyncio.sleep(_POLL_SECONDS)
            else:
                return

    async def _rewrite_files(self) -> None:
        if self.files is not None:
            self.progress("rewriting the files", 0, 0)
            await self.files.rewrite()

    async def _end(self, erasure: str, report: ErasureReport) -> FinishedErasure:
        """Search for what is left of an erasure, and end it if nothing is."""
        self.progress("searching for what is left", 0, 0)
        fingerprints = await fingerprints_of(self.graph.erasures, erasure)
        folders = [Path(folder) for folder in await copies_of(self.graph.erasures, [erasure])]
        data_dir = self.files.data_dir if self.files is not None else None
        proof = await prove(fingerprints, self._search, self._explain, folders, data_dir)
        if proof.holds:
            await self.graph.erasures.end_erasure(erasure)
        else:
            proof.waiting = (await self.graph.outbox.backlog()).waiting
        return FinishedErasure(erasure, report, proof)

    async def _search(self, residue: Residue) -> int:
        """Search the stores and their files; return the number of bytes of files read."""
        index = await self.eraser.indexes.write_index()
        vectors = [index.vectors] if index.model.has_vectors else []
        await scan_store(self.graph, vectors, residue)
        if residue.points():
            await self._follow(vectors, residue)
            await self._rewrite_files()
        read = 0
        if self.files is not None:
            read += await asyncio.to_thread(search_store, self.files.data_dir, residue)
        if self.mirror is not None:
            read += await asyncio.to_thread(search_files, self.mirror.path, residue)
        await self._explain(residue)
        return read

    async def _explain(self, residue: Residue) -> None:
        await explain(self.graph, residue)

    async def _follow(self, vectors: Sequence[VectorStore], residue: Residue) -> None:
        """Wait until the points are updated that still contain erased data.

        Points without a passage are deleted at once: a killed consolidation leaves them for a summary never stored, and
        an indexer may write one whose passage has just been erased.
        """
        until = time.monotonic() + self.wait_seconds
        while uids := residue.points():
            # Read before the scan: zero means that the scan sees settled points.
            waiting = (await self.graph.outbox.backlog()).waiting
            orphans = sorted(set(uids) - (await self.graph.audit.point_states(uids)).keys())
            for store in vectors if orphans else ():
                await store.delete(orphans)
            await rescan_points(vectors, residue)
            if not waiting or time.monotonic() > until:
                return
            await asyncio.sleep(_POLL_SECONDS)
