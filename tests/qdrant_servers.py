"""A Qdrant for tests: the server at VICW_TEST_QDRANT_URL (its gRPC port), or qdrant-client's local mode.

The local mode has no strict mode, no quantisation, no indexes and no wire: a run on it has not tried these.
"""

from __future__ import annotations

import os
import uuid
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from qdrant_client import AsyncQdrantClient

from vicw_shared.adapters.qdrant import QdrantCollections, connect
from vicw_shared.settings import QdrantSettings

URL = os.environ.get("VICW_TEST_QDRANT_URL")
NAME = "qdrant" if URL else "qdrant-local-mode"
needs_server = pytest.mark.skipif(not URL, reason="NO QDRANT SERVER: set VICW_TEST_QDRANT_URL to its gRPC address")


def qdrant_client_for_tests() -> AsyncQdrantClient:
    """Return a client of an engine that tests may fill. Each local one is empty and its own."""
    if URL:
        return connect(QdrantSettings(url=URL))
    warnings.filterwarnings("ignore", message="Payload indexes have no effect in the local Qdrant")
    return AsyncQdrantClient(":memory:")


@asynccontextmanager
async def collections_for_tests() -> AsyncIterator[tuple[AsyncQdrantClient, QdrantCollections]]:
    """Collections behind an alias that nobody else has; all are removed afterwards."""
    client = qdrant_client_for_tests()
    alias = f"test-{uuid.uuid4().hex[:12]}"
    try:
        yield client, QdrantCollections(client, alias)
    finally:
        cleaner = qdrant_client_for_tests() if URL else client
        names = [each.name for each in (await cleaner.get_collections()).collections] if URL else []
        for name in names:
            if name.startswith(alias):
                await cleaner.delete_collection(name)  # and with it the alias
        await cleaner.close()
        await client.close()
