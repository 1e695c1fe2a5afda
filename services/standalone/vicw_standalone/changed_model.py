"""A store and the model that it is to go on with: a change that was killed, and what to do about another model."""

from __future__ import annotations

from dataclasses import replace

from vicw_shared.adapters.sqlite import SqliteGraphStore
from vicw_shared.embedding_models import MODELS
from vicw_shared.ports import ChangePhase, ModelIdentity
from vicw_standalone.choices import keep_choice
from vicw_standalone.settings import Settings

AGAIN = "Run `vicw reindex` to embed everything anew"


async def settle_change(graph: SqliteGraphStore, settings: Settings) -> tuple[ModelIdentity | None, str | None]:
    """Bring a change of the model that was killed to where one process can go on.

    Return the model in use, and what its setting has to say if the change had no time to write that down.
    """
    models = await graph.models()
    used, change = models.used, models.change
    if used is None or change is None:
        return used, None
    if change.phase is ChangePhase.LEAVING:
        keep_choice(settings, change)
        await graph.set_model(used)
        return used, change.source
    # Only the index in use is written from now on, so the other one has not joined any more.
    await graph.set_model(used, replace(change, phase=ChangePhase.BUILDING))
    return used, None


def remedy(known: ModelIdentity, wanted: ModelIdentity) -> str:
    """Say what to do about a store that ``known`` has filled when ``wanted`` is to go on with it."""
    if not known.has_vectors:
        return "Run `vicw reindex` to make its vectors, or set VICW_EMBEDDER=none to go on without"
    by_name = known.name != wanted.name and known.name in MODELS
    return f"{AGAIN}, or set VICW_EMBEDDING_MODEL={known.name}" if by_name else AGAIN
