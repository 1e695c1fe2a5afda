"""Erasing on a platform, beside running services: the engines' own files are the engines' matter."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from vicw_ingest.erasing.eraser import Done, Eraser
from vicw_ingest.erasing.noting import copies_of, fingerprints_of
from vicw_sleep.mirror.mirroring import Mirror
from vicw_sleep.mirror.seeing import Sight
from vicw_sleep.remains import Remains, look_through
from vicw_sleep.settings import Settings
from vicw_sleep.wiring import Wiring
from vicw_standalone.forgetting.files import look_through_files
from vicw_standalone.forgetting.proving import Ended, prove


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[tuple[Wiring, Eraser]]:
    """Open the engines."""
    wiring = Wiring(settings)
    await wiring.open()
    try:
        yield wiring, Eraser(wiring.engines.graph, wiring.engines.indexes, wiring.registry)
    finally:
        await wiring.close()


async def erase(settings: Settings, wiring: Wiring, eraser: Eraser, erasure: str) -> Done:
    """Do what an erasure has noted, have the workers bring passages up to date, and make the mirror anew if it is here.

    A mirror elsewhere is made anew by who keeps it, since an erasure has ended.
    """
    done = await eraser.run(erasure)
    await wiring.wake()
    mirror = settings.mirror
    if mirror.path is not None and mirror.path.is_dir():
        await Mirror(wiring.engines.graph, mirror.path, mirror.tenant, Sight(mirror.viewer or "")).build()
    return done


async def end(settings: Settings, wiring: Wiring, erasures: dict[str, Done]) -> list[Ended]:
    """Ask the graph and the vector stores for what is left, search the mirror and noted copies, end what is proven."""
    graph, mirror = wiring.engines.graph, settings.mirror.path

    async def search(remains: Remains) -> int:
        await look_through(graph, [index.vectors for index in await wiring.engines.indexes.writing()], remains)
        return look_through_files(mirror, remains) if mirror is not None and mirror.is_dir() else 0

    ended = []
    for erasure, done in erasures.items():
        folders = [Path(folder) for folder in await copies_of(graph, [erasure])]
        proof = await prove(await fingerprints_of(graph, erasure), search, folders, None)
        if proof.holds:
            await graph.end_erasure(erasure)
        ended.append(Ended(erasure, done, proof))
    return ended
