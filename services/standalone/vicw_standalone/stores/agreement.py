"""Whether an opened store and the configured model belong together, and its two halves to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from vicw_shared.errors import ModelMismatchError
from vicw_sleep.reconcile.service import reconcile
from vicw_sleep.reindex.rebuild import mark_lost
from vicw_standalone.embedding_model.choice import REINDEX_ADVICE, remedy, vectors_of
from vicw_stores.edge import EdgeVectorStore
from vicw_stores.edge.folders import folder_of

if TYPE_CHECKING:
    from pathlib import Path

    from vicw_runtime.indexes import Indexes
    from vicw_shared.ports import ModelIdentity
    from vicw_standalone.embedding_model.embedders import Embedders
    from vicw_standalone.index_engines.edge import IndexFolders
    from vicw_stores.sqlite import SqliteGraphStore

_log = structlog.get_logger()


async def require_agreement(
    graph: SqliteGraphStore, embedders: Embedders, data_dir: Path, models_dir: Path
) -> ModelIdentity:
    """Start the embedder of the settings, record its model in a store that has none, and return it.

    Raises ModelMismatchError if the store was filled by another model, and the embedders' errors.
    """
    used = (await graph.record.models()).used
    try:
        identity = (await embedders.first(used)).model
    except ModelMismatchError as error:
        raise ModelMismatchError(f"The store has {vectors_of(used)}. {error.detail}. {REINDEX_ADVICE}") from error
    if used is None:
        await graph.record.set_model(identity)
    elif used != identity and not identity.has_vectors:
        _log.warning("answers without vectors (VICW_EMBEDDER=none); the index stays as it is", model=str(used))
        await graph.record.set_model(identity)
    elif used != identity:
        fix = remedy(used, identity, models_dir)
        raise ModelMismatchError(f"The store has {vectors_of(used)}, but the embedder is {identity}. {fix}")
    if identity.has_vectors and not EdgeVectorStore.exists(folder_of(data_dir, identity, identity)):
        await mark_lost(graph)
    return identity


async def reconcile_points(graph: SqliteGraphStore, folders: IndexFolders, indexes: Indexes) -> None:
    """Compare the points with the graph after an unclean stop."""
    folder = folders.of(indexes.read_index.model)
    if folder is not None and folder.unclean and indexes.rebuilding is None:
        result = await reconcile(graph.outbox, graph.audit, folder, alone=True)
        folder.mark_compared()
        _log.info("compared the stores after an unclean stop", **result.counts)
