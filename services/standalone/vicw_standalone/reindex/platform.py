"""Change of the platform's model, from any machine that reaches its engines."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vicw_ingest.index.indexer import Indexer
from vicw_runtime.indexes import Index, Indexes, wait_for_followers
from vicw_shared.errors import MissingRecordError, StateConflictError
from vicw_shared.extensions import load_registries
from vicw_shared.model import Label
from vicw_shared.ports import ModelIdentity
from vicw_shared.progress import Progress
from vicw_shared.settings import IngestSettings
from vicw_shared.settings.variables import named_by_variable
from vicw_standalone.platform_stores import named_engines, read_platform
from vicw_standalone.reindex.change import Reindexer, ReindexReport
from vicw_standalone.reindex.status import IndexStatus

if TYPE_CHECKING:
    from vicw_runtime.platform.engines import PlatformIndexes
    from vicw_runtime.platform.settings import PlatformSettings
    from vicw_stores.neo4j import Neo4jGraphStore

_START_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Platform:
    """The open engines."""

    settings: PlatformSettings
    graph: Neo4jGraphStore
    indexes: PlatformIndexes


@asynccontextmanager
async def open_platform() -> AsyncIterator[Platform]:
    """Open the engines for any model in use."""
    settings = read_platform()
    from vicw_runtime.platform.engines import PlatformIndexes

    async with AsyncExitStack() as stack:
        with named_engines(settings):
            graph, indexes = await PlatformIndexes.open_with_graph(settings, load_registries().edges, stack)
        yield Platform(settings, graph, indexes)


async def reindex(
    platform: Platform,
    model: str | None,
    progress: Progress,
    wait: Callable[[], Awaitable[None]] = wait_for_followers,
) -> ReindexReport:
    """Change to ``model``; without one, resume the change in progress, or repair the index in use.

    Raises ModelMismatchError that lists the model of each embedding server, if none has this model. ``wait`` returns
    when all services have read the record.
    """
    with named_by_variable():
        ingest = IngestSettings()
    graph, collections = platform.graph, platform.indexes.collections
    target = await _target(platform, model)

    async def opener(_: ModelIdentity) -> Index:
        return target

    indexes = Indexes(graph.record, opener)

    async def known() -> None:
        await wait()
        await indexes.refresh()

    async def swap() -> None:
        await collections.swap(collections.name_of(target.model))

    try:
        return await Reindexer(
            graph,
            target,
            Indexer(graph.outbox, indexes, ingest.batch, ingest.max_tries),
            progress,
            known,
            swap,
        ).run()
    finally:
        await target.vectors.close()


async def _target(platform: Platform, name: str | None) -> Index:
    models, indexes = await platform.graph.record.models(), platform.indexes
    if name is not None:
        embedder, identity = await indexes.servers.find_by_name(name, but=models.used)
        return indexes.index(identity, await indexes.collections.ensure(identity), embedder)
    model = models.change.model if models.change is not None else models.used
    if model is None:
        raise MissingRecordError("Nothing is stored yet: there is nothing to index")
    return await indexes.open(model, seconds=_START_SECONDS)


async def status(platform: Platform) -> IndexStatus:
    """Return the index in use, and the progress of a change."""
    models, collections = await platform.graph.record.models(), await platform.indexes.collections.all()
    return IndexStatus(
        models,
        await platform.graph.audit.count(Label.CHUNK),
        {each.model: each.points for each in collections},
    )


async def drop_old(platform: Platform) -> list[ModelIdentity]:
    """Remove the collections that are neither in use nor being filled; return their models.

    Raises StateConflictError during a model change.
    """
    models, collections = await platform.graph.record.models(), platform.indexes.collections
    if models.change is not None:
        raise StateConflictError("A model change is in progress: `vicw reindex --platform` resumes it")
    old = [each for each in await collections.all() if not each.current and each.model != models.used]
    for each in old:
        await collections.drop(each.name)
    return [each.model for each in old]
