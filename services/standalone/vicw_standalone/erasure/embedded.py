"""Erasure in a data directory that no server has open. Removed data is physically gone at the end.

graph and points → mirror rebuilt → vector indexes and graph file rewritten → search → record of the erasure ended
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from vicw_core.archive.import_marker import put_mark, read_half, read_mark
from vicw_ingest.erasure.eraser import Eraser, ErasureReport
from vicw_ingest.erasure.files import search_files, search_store
from vicw_ingest.erasure.proof import ErasureProof, FinishedErasure, prove
from vicw_ingest.erasure.record import copies_of, fingerprints_of
from vicw_ingest.erasure.residue_scan import Residue, scan_store
from vicw_ingest.erasure.selection import ErasureSelection
from vicw_shared.extensions import load_registries
from vicw_shared.ports import ModelIdentity, Store
from vicw_sleep.mirror.service import Mirror
from vicw_sleep.mirror.visibility import MirrorVisibility
from vicw_standalone.offline import open_offline
from vicw_standalone.settings import StandaloneSettings
from vicw_standalone.wiring import Standalone
from vicw_stores.data_dir import DataDir
from vicw_stores.edge import EdgeVectorStore
from vicw_stores.edge.folders import noted_in, others
from vicw_stores.sqlite import SqliteGraphStore, require_store


@asynccontextmanager
async def opened(settings: StandaloneSettings, *, half: bool = False) -> AsyncIterator[tuple[Standalone, Eraser]]:
    """Open the stores and the embedder, for restored passages. Raises DataDirError while a server has them open.

    ``half``: also after an interrupted import.
    """
    data_dir = settings.storage.data_dir
    require_store(data_dir)
    standalone = Standalone(settings)
    try:
        await standalone.open(half=half)
        yield standalone, Eraser(standalone.graph, standalone.indexes, standalone.registry)
    finally:
        await standalone.close()


async def erase(settings: StandaloneSettings, standalone: Standalone, eraser: Eraser, erasure: str) -> ErasureReport:
    """Carry out a recorded erasure, then update what remains: passages, payloads, the mirror."""
    done = await eraser.run(erasure)
    await standalone.indexer.drain()
    mirror = settings.mirror
    if mirror.path is not None:
        await Mirror(standalone.graph, mirror.path, mirror.tenant, MirrorVisibility(mirror.viewer or "")).build()
    return done


async def end(settings: StandaloneSettings, erasures: dict[str, ErasureReport]) -> list[FinishedErasure]:
    """Rewrite the files, search them and the recorded copies, end proven erasures. The stores must be closed."""
    data_dir = settings.storage.data_dir
    with DataDir(data_dir) as held:
        graph = SqliteGraphStore(held, load_registries().edges)
        try:
            await graph.erasures.scrub()
            used = (await graph.record.models()).used
        finally:
            await graph.close()
        await _rewrite_indexes(data_dir, used)
    ended = []
    for erasure, done in erasures.items():
        proof = await _prove(settings, erasure)
        if proof.holds:
            async with open_offline(settings) as (graph, _):
                await graph.erasures.end_erasure(erasure)
        ended.append(FinishedErasure(erasure, done, proof))
    return ended


async def _prove(settings: StandaloneSettings, erasure: str) -> ErasureProof:
    data_dir, mirror = settings.storage.data_dir, settings.mirror.path
    async with open_offline(settings) as (graph, vectors):
        fingerprints = await fingerprints_of(graph.erasures, erasure)
        folders = [Path(folder) for folder in await copies_of(graph.erasures, [erasure])]

        async def search(residue: Residue) -> int:
            await scan_store(graph, [vectors] if vectors is not None else [], residue)
            read = await asyncio.to_thread(search_store, data_dir, residue)
            return read + (await asyncio.to_thread(search_files, mirror, residue) if mirror is not None else 0)

        return await prove(fingerprints, search, folders, data_dir)


async def _rewrite_indexes(data_dir: Path, used: ModelIdentity | None) -> None:
    """Rewrite the index of every model."""
    for folder in others(data_dir, ()):
        model = noted_in(folder) or used
        if model is not None and model.has_vectors and EdgeVectorStore.exists(folder):
            index = EdgeVectorStore(folder, model.size)
            try:
                await index.rewrite()
            finally:
                await index.close()


async def choose_half(graph: Store) -> list[ErasureSelection]:
    """Select everything that an interrupted import stored, per tenant: the tenants were empty before it.

    An import stores contexts first, so no imported node lacks its context. Raises as ``read_half`` does.
    """
    tenants = (await read_half(graph.archive)).tenants
    return [
        ErasureSelection(tenant, partial=tuple(root.context for root in await graph.contexts(tenant)))
        for tenant in tenants
    ]


async def settle_half(graph: Store) -> None:
    """Remove the marker of an abandoned import once all of its contexts are erased."""
    mark = await read_mark(graph.archive)
    if mark is not None and mark.given_up and not any([await graph.contexts(tenant) for tenant in mark.tenants]):
        await put_mark(graph, mark.tenants[0], None)
