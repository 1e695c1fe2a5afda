"""The platform's stores, opened by commands without any of its services."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from vicw_shared.errors import SettingsError, UnavailableError
from vicw_shared.extensions import load_registries
from vicw_shared.settings.variables import named_by_variable

if TYPE_CHECKING:
    from vicw_runtime.platform.settings import PlatformSettings
    from vicw_stores.neo4j import Neo4jGraphStore


def read_platform() -> PlatformSettings:
    """Return the settings of the engines. Raises SettingsError, also if their clients are not installed."""
    try:
        from vicw_runtime.platform.settings import PlatformSettings
    except ImportError as error:
        raise SettingsError(
            f"{error.name} is not installed: install vicw[platform], or use an image of the platform"
        ) from error
    with named_by_variable():
        return PlatformSettings.read()


@contextmanager
def named_engines(settings: PlatformSettings) -> Iterator[None]:
    """Open engines inside this block: an UnavailableError then names the address, its variable and the fix."""
    places = {
        "graph": f"Neo4j does not answer at {settings.neo4j.url} (VICW_NEO4J_URL)",
        "vectors": f"Qdrant does not answer at {settings.qdrant.url} (VICW_QDRANT_URL)",
    }
    try:
        yield
    except UnavailableError as error:
        if error.dependency not in places:
            raise
        reason = " ".join(error.detail.removeprefix(f"{error.dependency}: ").split())
        raise UnavailableError(
            error.dependency,
            f"{places[error.dependency]}. Start the platform (`docker compose up -d`), or correct the address "
            f"({reason})",
        ) from error


@asynccontextmanager
async def open_graph() -> AsyncIterator[Neo4jGraphStore]:
    """Open the platform's graph."""
    settings = read_platform()
    from vicw_stores.neo4j import Neo4jGraphStore

    with named_engines(settings):
        graph = await Neo4jGraphStore.open(settings.neo4j, load_registries().edges)
    try:
        yield graph
    finally:
        await graph.close()
