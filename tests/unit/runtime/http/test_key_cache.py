"""Keys whose ring is slow, away, or broken: who waits for it, and who is found meanwhile."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from vicw_runtime.http.key_cache import KeyCache, KeyCacheLimits
from vicw_shared.errors import SettingsError, UnavailableError, VicwError
from vicw_shared.model import EdgeRegistry
from vicw_shared.model.keys import ApiKey, Right, mint
from vicw_stores.data_dir import DataDir
from vicw_stores.sqlite import SqliteGraphStore
from vicw_stores.sqlite.keys import SqliteKeyRing

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Ring(SqliteKeyRing):
    """A ring that can be made to fail or to hang, and that counts how often it is asked."""

    asked = 0
    failure: VicwError | None = None

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.answers = asyncio.Event()
        self.answers.set()

    async def key(self, key_id: str) -> ApiKey | None:
        self.asked += 1
        await self.answers.wait()
        if self.failure is not None:
            raise self.failure
        return await super().key(key_id)

    async def made(self) -> ApiKey:
        key, _ = mint("t", (Right.INGEST,), NOW)
        await self.add(key)
        return key


@pytest.fixture
async def ring(store: Path) -> Ring:
    with DataDir(store) as data_dir:
        await SqliteGraphStore(data_dir, EdgeRegistry.with_core_types()).close()
    return Ring(store / "graph.sqlite3")


@pytest.fixture
def uncached() -> KeyCacheLimits:
    """Every request asks the ring, unless it is away."""
    return KeyCacheLimits(cache_seconds=0)


async def wait_until_found(keys: KeyCache, key: ApiKey) -> None:
    """Return when the key is found."""
    async with asyncio.timeout(20):
        while True:
            try:
                assert await keys.find(key.id) == key
                return
            except UnavailableError:
                await asyncio.sleep(0.01)


async def test_no_request_waits_for_a_key_ring_that_is_down(ring: Ring, uncached: KeyCacheLimits) -> None:
    keys, key, unused = KeyCache(lambda: ring, uncached), await ring.made(), await ring.made()
    assert await keys.find(key.id) == key
    ring.failure = UnavailableError("graph", "bolt://10.0.0.7 refused")
    assert await keys.find(key.id) == key
    asked = ring.asked
    for _ in range(50):
        assert await keys.find(key.id) == key
        with pytest.raises(UnavailableError) as raised:
            await keys.find(unused.id)
        assert "10.0.0.7" not in raised.value.detail, "that is not for strangers"
    assert ring.asked == asked


async def test_a_key_ring_that_is_up_again_is_noticed_in_the_background(ring: Ring, uncached: KeyCacheLimits) -> None:
    uncached.retry_seconds = 0.02
    keys, key = KeyCache(lambda: ring, uncached), await ring.made()
    ring.failure = UnavailableError("graph", "is down")
    with pytest.raises(UnavailableError):
        await keys.find("another")
    asked = ring.asked
    async with asyncio.timeout(20):
        while ring.asked < asked + 3:  # noqa: ASYNC110 - it counts
            await asyncio.sleep(0.01)
    ring.failure = None
    await wait_until_found(keys, key)
    assert await ring.revoke(key.id, NOW)
    found = await keys.find(key.id)
    assert found is not None
    assert found.revoked_at == NOW, "it is asked by requests again"


async def test_a_key_ring_that_hangs_counts_as_down(ring: Ring, uncached: KeyCacheLimits) -> None:
    uncached.retry_seconds = 0.02
    keys, key, unused = KeyCache(lambda: ring, uncached), await ring.made(), await ring.made()
    assert await keys.find(key.id) == key
    uncached.timeout_seconds = 0.05
    ring.answers.clear()
    assert await keys.find(key.id) == key
    with pytest.raises(UnavailableError, match="keys: "):
        await keys.find(unused.id)
    uncached.timeout_seconds = 20
    ring.answers.set()
    await wait_until_found(keys, unused)


async def test_concurrent_requests_share_one_key_look_up(ring: Ring) -> None:
    keys, key = KeyCache(lambda: ring), await ring.made()
    assert await asyncio.gather(*(keys.find(key.id) for _ in range(20))) == [key] * 20
    assert ring.asked == 1


async def test_a_cancelled_request_leaves_the_shared_key_look_up_running(ring: Ring) -> None:
    keys, key = KeyCache(lambda: ring), await ring.made()
    ring.answers.clear()
    first, second = (asyncio.create_task(keys.find(key.id)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait({first})
    ring.answers.set()
    assert await second == key
    assert (first.cancelled(), ring.asked) == (True, 1)


async def test_an_error_of_the_key_ring_after_an_outage_is_raised(ring: Ring, uncached: KeyCacheLimits) -> None:
    uncached.retry_seconds = 0.02
    keys, key = KeyCache(lambda: ring, uncached), await ring.made()
    assert await keys.find(key.id) == key
    ring.failure = UnavailableError("graph", "is down")
    assert await keys.find(key.id) == key
    ring.failure = SettingsError("VICW_NEO4J_PASSWORD is refused")
    with pytest.raises(SettingsError, match="VICW_NEO4J_PASSWORD"):
        async with asyncio.timeout(20):
            while await keys.find(key.id) == key:  # noqa: ASYNC110 - until that raises
                await asyncio.sleep(0.01)
