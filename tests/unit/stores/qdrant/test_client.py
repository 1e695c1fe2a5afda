"""Connecting to a Qdrant server, and a server that is not there; what is remembered for a while."""

from __future__ import annotations

import socket
import time

import numpy as np
import pytest
from pydantic import SecretStr, ValidationError

from vicw_shared.errors import SettingsError, UnavailableError
from vicw_shared.ports import ModelIdentity, Point, ScoreQuery
from vicw_shared.settings import QdrantSettings
from vicw_stores.qdrant import QdrantCollections, QdrantVectorStore, connect
from vicw_stores.qdrant.store import TtlCache

NOWHERE = QdrantSettings(url="http://127.0.0.1:1", api_key=SecretStr("secret"), write_timeout_seconds=2)


@pytest.mark.parametrize("url", ["", "qdrant:6334", "grpc://qdrant:6334", "http://", "http://qdrant:6334/vectors"])
def test_an_invalid_qdrant_url_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match="VICW_QDRANT_URL"):
        connect(QdrantSettings(url=url))


@pytest.mark.parametrize("alias", ["", "a/b", "-a", "ü", "x" * 101])
def test_an_invalid_collection_alias_is_refused(alias: str) -> None:
    with pytest.raises(ValidationError, match="alias"):
        QdrantSettings(alias=alias)


def test_the_api_key_is_not_in_the_repr_of_the_settings() -> None:
    assert "secret" not in repr(NOWHERE)


async def test_every_call_to_an_unreachable_qdrant_is_unavailable() -> None:
    store = QdrantVectorStore(connect(NOWHERE), "vicw", timeout_seconds=2)
    point = Point("00000000-0000-0000-0000-000000000001", np.ones(1, dtype=np.float32), None, {})
    calls = [
        store.upsert([point]),
        store.set_payload({point.id: {}}),
        store.delete([point.id]),
        store.score([ScoreQuery(ids=[point.id], dense=point.dense)]),
        store.domains("t"),
        store.payloads([point.id]),
        store.ids(after=None, limit=1),
        QdrantCollections(connect(NOWHERE), "vicw").open(ModelIdentity("m", 1, "", 1)),
    ]
    for call in calls:
        with pytest.raises(UnavailableError, match="vectors: Qdrant"):
            await call
    await store.close()


async def test_a_silent_qdrant_server_is_reported_unavailable_soon() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings = QdrantSettings(url=f"http://127.0.0.1:{silent.getsockname()[1]}", write_timeout_seconds=60)
        store = QdrantVectorStore(connect(settings), "vicw", timeout_seconds=60)
        took = []
        for _ in range(6):
            began = time.monotonic()
            with pytest.raises(UnavailableError, match="vectors: Qdrant"):
                await store.ids(after=None, limit=1)
            took.append(time.monotonic() - began)
        assert max(took) < 5
        assert took[-1] < 0.5, "once each of the client's connections has tried, it is known"
        await store.close()


def test_recent_values_are_forgotten_when_they_are_old_or_too_many() -> None:
    now = 0.0
    recent: TtlCache[str, int] = TtlCache(10, 2, clock=lambda: now)
    recent.put("a", 0)
    now = 9.9
    assert recent.get("a") == 0
    assert recent.get("b") is None
    now = 10.0
    assert recent.get("a") is None
    recent.put("b", 1)
    recent.put("c", 2)
    assert (recent.get("b"), recent.get("c")) == (None, 2)
