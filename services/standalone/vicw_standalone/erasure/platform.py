"""Erasure on a platform, beside running services. The engines' own files are not rewritten or searched."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from vicw_ingest.erasure.eraser import Eraser, ErasureReport
from vicw_ingest.erasure.files import search_files
from vicw_ingest.erasure.proof import FinishedErasure, prove
from vicw_ingest.erasure.record import copies_of, fingerprints_of
from vicw_ingest.erasure.residue_scan import Residue, rescan_points, scan_store
from vicw_shared.errors import StateConflictError
from vicw_shared.ports import Store, VectorStore
from vicw_sleep.mirror.service import Mirror
from vicw_sleep.mirror.visibility import MirrorVisibility
from vicw_sleep.settings import SleepServiceSettings
from vicw_sleep.wiring import SleepWiring

_POLL_SECONDS = 0.5


@asynccontextmanager
async def opened(settings: SleepServiceSettings) -> AsyncIterator[tuple[SleepWiring, Eraser]]:
    """Open the engines."""
    wiring = SleepWiring(settings)
    await wiring.open()
    try:
        yield wiring, Eraser(wiring.engines.graph, wiring.engines.indexes, wiring.registry)
    finally:
        await wiring.close()


async def erase(
    settings: SleepServiceSettings, wiring: SleepWiring, eraser: Eraser, erasure: str, wait_seconds: float
) -> ErasureReport:
    """Carry out a recorded erasure, wake the workers that update passages, and rebuild a local mirror.

    A mirror on another machine is rebuilt by its own process, which notices the ended erasure.
    """
    done = await eraser.run(erasure)
    await wiring.memory.queue.wake()
    mirror = settings.mirror
    if mirror.path is not None and mirror.path.is_dir():
        await _build(
            Mirror(wiring.engines.graph, mirror.path, mirror.tenant, MirrorVisibility(mirror.viewer or "")),
            wait_seconds,
        )
    return done


async def _build(mirror: Mirror, wait_seconds: float) -> None:
    """Rebuild a mirror; wait while a worker or another erasure writes to it."""
    until = time.monotonic() + wait_seconds
    while True:
        try:
            await mirror.build()
        except StateConflictError:
            if time.monotonic() > until:
                raise
            await asyncio.sleep(_POLL_SECONDS)
        else:
            return


async def end(
    settings: SleepServiceSettings, wiring: SleepWiring, erasures: dict[str, ErasureReport], wait_seconds: float
) -> list[FinishedErasure]:
    """Search the graph, the vector stores, the mirror and the recorded copies; end proven erasures."""
    graph, mirror = wiring.engines.graph, settings.mirror.path

    async def search(residue: Residue) -> int:
        vectors = [(await wiring.engines.indexes.write_index()).vectors]
        await scan_store(graph, vectors, residue)
        await _follow(graph, vectors, residue, wait_seconds)
        return search_files(mirror, residue) if mirror is not None and mirror.is_dir() else 0

    ended = []
    for erasure, done in erasures.items():
        folders = [Path(folder) for folder in await copies_of(graph.erasures, [erasure])]
        proof = await prove(await fingerprints_of(graph.erasures, erasure), search, folders, None)
        if proof.holds:
            await graph.erasures.end_erasure(erasure)
        else:
            proof.waiting = (await graph.outbox.backlog()).waiting
        ended.append(FinishedErasure(erasure, done, proof))
    return ended


async def _follow(graph: Store, vectors: Sequence[VectorStore], residue: Residue, wait_seconds: float) -> None:
    """Wait until the workers have updated the points that still contain erased data.

    Points without a passage are deleted at once: a killed consolidation leaves them for a summary never stored.
    """
    until = time.monotonic() + wait_seconds
    while uids := residue.points():
        # Read before the scan: zero means that the scan sees settled points.
        waiting = (await graph.outbox.backlog()).waiting
        orphans = sorted(set(uids) - (await graph.audit.point_states(uids)).keys())
        for store in vectors if orphans else ():
            await store.delete(orphans)
        await rescan_points(vectors, residue)
        if not waiting or time.monotonic() > until:
            return
        await asyncio.sleep(_POLL_SECONDS)
