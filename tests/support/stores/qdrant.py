"""Qdrant for the contract tests: the run's server, or qdrant-client's local mode where none can be had.

The local mode has no strict mode, no quantisation, no indexes and no wire: a run on it has not tried these, and the end
of the run says what stood in for the missing server.
"""

from __future__ import annotations

import uuid
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from qdrant_client import AsyncQdrantClient

from support.servers.plugin import stood_in
from support.servers.qdrant import QdrantServer
from vicw_shared.settings import QdrantSettings
from vicw_stores.qdrant import QdrantCollections, connect

_LOCAL_MODE = "the adapter's contract tests ran on qdrant-client's local mode (no wire, indexes, quantisation)"


def server_if_any(request: pytest.FixtureRequest) -> QdrantServer | None:
    """Return the run's server, None if there is none."""
    try:
        server: QdrantServer = request.getfixturevalue("qdrant_server")
    except pytest.skip.Exception:
        stood_in(request.config, "qdrant", _LOCAL_MODE)
        return None
    return server


def open_client(server: QdrantServer | None) -> AsyncQdrantClient:
    """Return a client of an engine that tests may fill. Each local one is empty and its own."""
    if server is not None:
        return connect(QdrantSettings(url=f"{server.url.rpartition(':')[0]}:{server.grpc_port}"))
    warnings.filterwarnings("ignore", message="Payload indexes have no effect in the local Qdrant")
    return AsyncQdrantClient(":memory:")


@asynccontextmanager
async def collections_for_tests(
    server: QdrantServer | None,
) -> AsyncIterator[tuple[AsyncQdrantClient, QdrantCollections]]:
    """Collections behind an alias that nobody else has; all are removed afterwards."""
    client = open_client(server)
    alias = f"test-{uuid.uuid4().hex[:12]}"
    try:
        yield client, QdrantCollections(client, alias)
    finally:
        if server is not None:
            cleaner = open_client(server)
            for each in (await cleaner.get_collections()).collections:
                if each.name.startswith(alias):
                    await cleaner.delete_collection(each.name)  # and with it the alias
            await cleaner.close()
        await client.close()
