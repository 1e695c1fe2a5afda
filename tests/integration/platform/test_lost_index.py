"""The collection in use was lost: whoever makes it anew has said so before, and says so until it has everything."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from integration.platform.conftest import engines, fill, index, lose, store
from support.fakes.embedding_server import EmbeddingServer, serve_embeddings
from vicw_runtime.operations import Opening, Report
from vicw_shared.errors import UnavailableError
from vicw_sleep.reconcile.model import ReconcileBookmark
from vicw_sleep.reconcile.service import reconcile
from vicw_sleep.reindex.api import REINDEX, ReindexRequest
from vicw_standalone.settings import StandaloneSettings
from vicw_standalone.stores.memory import OpenStores
from vicw_standalone.stores.opening import open_stores


@pytest.fixture
async def model() -> AsyncIterator[EmbeddingServer]:
    async with serve_embeddings("some-model") as foreign:
        yield foreign


@pytest.fixture
def embedding_url(model: EmbeddingServer) -> str:
    return model.url


async def test_a_starting_service_reports_a_lost_collection_as_rebuilding() -> None:
    async with engines() as opened:
        assert "rebuilding" not in await opened.describe("t"), "there was nothing to lose"
        await fill(opened, "a", "b")
    async with engines() as opened:
        assert opened.indexes.rebuilding is None
    await lose()
    async with engines() as opened:
        lost_at = opened.indexes.rebuilding
        assert lost_at is not None
        assert (await opened.describe("t"))["rebuilding"] == lost_at.isoformat()
        graph, vectors = opened.graph, opened.indexes.read_index.vectors
        assert (
            await reconcile(graph.outbox, graph.audit, vectors, start=ReconcileBookmark(lost_at=lost_at))
        ).missing == 2
        await index(opened)
        done = await reconcile(graph.outbox, graph.audit, vectors, start=ReconcileBookmark(lost_at=lost_at))
        assert (done.missing, done.rebuilt) == (0, lost_at)
        assert await graph.record.clear_rebuilding(lost_at)
        await opened.indexes.refresh()
        assert "rebuilding" not in await opened.describe("t")


async def test_a_running_service_is_marked_rebuilding_before_vectors_respond_again() -> None:
    async with engines() as opened, engines() as other:
        await fill(opened, "a")
        following = asyncio.create_task(other.indexes.follow())
        await lose()
        with pytest.raises(UnavailableError):
            await other.probe("vectors")
        restoring = asyncio.create_task(opened.restore_index())
        async with asyncio.timeout(20):
            while other.indexes.rebuilding is None:
                with pytest.raises(UnavailableError):
                    await other.probe("vectors")
                await asyncio.sleep(0)
        await restoring
        await other.probe("vectors")
        assert opened.indexes.rebuilding == other.indexes.rebuilding
        following.cancel()
        current = await opened.platform.collections.current()
        assert current is not None
        assert current.points == 0


async def test_an_existing_collection_is_not_marked_as_rebuilding() -> None:
    async with engines() as opened:
        await store(opened, "a")
        await opened.restore_index()
        await index(opened)
        await opened.restore_index()
        assert (await opened.graph.record.models()).rebuilding is None


async def test_loss_of_a_never_filled_collection_is_not_marked_as_rebuilding() -> None:
    async with engines() as opened:
        await store(opened, "a")
        await lose()
        await opened.restore_index()
        assert (opened.indexes.rebuilding, (await opened.graph.outbox.backlog()).waiting) == (None, 1)


async def test_reindex_fills_a_lost_collection() -> None:
    async with engines() as opened:
        await fill(opened, "a", "b", "c")
        await lose()
        async with open_stores(StandaloneSettings.read(), Opening.STORES, platform=True) as stores:
            assert isinstance(stores, OpenStores)
            done = await REINDEX.run(stores, ReindexRequest(), Report())
        assert (done.embedded, done.passages) == (3, 3)
        await opened.restore_index()
        assert opened.indexes.rebuilding is None
