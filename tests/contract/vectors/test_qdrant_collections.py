"""Collections and their alias: made once by many, never of two models, swapped in one step."""

from __future__ import annotations

import asyncio
import dataclasses
import uuid
from collections.abc import AsyncIterator

import numpy as np
import pytest
from qdrant_client import AsyncQdrantClient
from qdrant_client.models import (
    CreateAlias,
    CreateAliasOperation,
    Distance,
    FieldCondition,
    Filter,
    MatchValue,
    Modifier,
    SparseVectorParams,
    VectorParams,
)

from support.servers.qdrant import QdrantServer
from support.stores.qdrant import collections_for_tests, open_client, server_if_any
from vicw_shared.errors import (
    MissingRecordError,
    ModelMismatchError,
    SettingsError,
    StateConflictError,
    UnavailableError,
    VicwError,
)
from vicw_shared.ports import ModelIdentity, Point, ScoreQuery, SparseVector
from vicw_stores.conditions import FLAGS, INSTANTS, KEYWORDS
from vicw_stores.qdrant import QdrantCollections, QdrantVectorStore
from vicw_stores.qdrant.errors import translated
from vicw_stores.qdrant.layout import SPARSE

MODEL = ModelIdentity("some-model", 4, "0" * 64, 1)
OTHERS = (
    dataclasses.replace(MODEL, name="another"),
    dataclasses.replace(MODEL, size=8),
    dataclasses.replace(MODEL, digest="1" * 64),
    dataclasses.replace(MODEL, wrapper_version=2),
)


pytestmark = pytest.mark.servers


@pytest.fixture
async def client_and_collections(
    request: pytest.FixtureRequest,
) -> AsyncIterator[tuple[AsyncQdrantClient, QdrantCollections]]:
    async with collections_for_tests(server_if_any(request)) as opened:
        yield opened


@pytest.fixture
def client(client_and_collections: tuple[AsyncQdrantClient, QdrantCollections]) -> AsyncQdrantClient:
    return client_and_collections[0]


@pytest.fixture
def collections(client_and_collections: tuple[AsyncQdrantClient, QdrantCollections]) -> QdrantCollections:
    return client_and_collections[1]


def a_point(size: int = 4) -> Point:
    vector = np.zeros(size, dtype=np.float32)
    vector[0] = 1
    return Point("00000000-0000-0000-0000-000000000001", vector, None, {"tenant": "t", "label": "Chunk"})


async def test_opening_creates_a_collection_that_records_its_model(collections: QdrantCollections) -> None:
    assert await collections.current() is None
    opened = await collections.open(MODEL)
    assert (opened.model, opened.points, opened.current) == (MODEL, 0, True)
    assert await collections.open(MODEL) == opened
    assert await collections.all() == [opened]


async def test_before_create_is_called_before_a_missing_collection_is_created(client: AsyncQdrantClient) -> None:
    told: list[tuple[ModelIdentity, bool]] = []

    async def tell(model: ModelIdentity) -> None:
        told.append((model, await client.collection_exists(made.name_of(model))))
        if len(told) == 1:
            raise UnavailableError("graph", "is down")

    made = QdrantCollections(client, f"test-{uuid.uuid4().hex[:12]}", before_create=tell)
    try:
        with pytest.raises(UnavailableError):
            await made.open(MODEL)
        assert not await client.collection_exists(made.name_of(MODEL)), "nobody knows yet"
        await made.open(MODEL)
        await made.open(MODEL)
        assert told == [(MODEL, False)] * 2
        await client.delete_collection(made.name_of(MODEL))
        assert (await made.open(MODEL)).current, "the alias is there again, too"
        assert told == [(MODEL, False)] * 3
    finally:
        await client.delete_collection(made.name_of(MODEL))


@pytest.mark.parametrize("other", OTHERS, ids=["name", "size", "digest", "wrapper"])
async def test_a_collection_of_another_model_is_refused(collections: QdrantCollections, other: ModelIdentity) -> None:
    await collections.open(MODEL)
    with pytest.raises(ModelMismatchError, match="swaps the alias"):
        await collections.open(other)
    assert collections.name_of(other) != collections.name_of(MODEL)
    assert [each.model for each in await collections.all()] == [MODEL]


async def test_a_new_models_collection_is_built_beside_the_old_and_swapped(
    client: AsyncQdrantClient, collections: QdrantCollections
) -> None:
    old = await collections.open(MODEL)
    await QdrantVectorStore(client, old.name).upsert([a_point()])
    new = await collections.ensure(OTHERS[1])
    assert (await collections.current()) == dataclasses.replace(old, points=1)
    with pytest.raises(StateConflictError, match="in use"):
        await collections.drop(old.name)

    await collections.swap(new)

    assert [(each.name, each.current) for each in await collections.all()] == sorted([(old.name, False), (new, True)])
    assert (await collections.open(OTHERS[1])).name == new
    await collections.drop(old.name)
    assert [each.name for each in await collections.all()] == [new]
    for unknown in (collections.drop, collections.swap):
        with pytest.raises(MissingRecordError):
            await unknown(old.name)


async def test_collections_of_other_applications_are_not_listed_or_changed(
    client: AsyncQdrantClient, collections: QdrantCollections
) -> None:
    alias = collections.name_of(MODEL).rsplit("-", 2)[0]
    theirs = f"{alias}-theirs"
    await client.create_collection(theirs, vectors_config=VectorParams(size=4, distance=Distance.DOT))
    assert await collections.all() == []
    for forbidden in (collections.swap, collections.drop):
        with pytest.raises(MissingRecordError):
            await forbidden(theirs)
    make = CreateAlias(collection_name=theirs, alias_name=alias)
    await client.update_collection_aliases([CreateAliasOperation(create_alias=make)])
    with pytest.raises(SettingsError, match="VICW_QDRANT_ALIAS"):
        await collections.open(MODEL)


async def test_concurrent_starts_on_an_empty_server_open_one_collection(
    collections: QdrantCollections, qdrant_server: QdrantServer
) -> None:
    alias = collections.name_of(MODEL).rsplit("-", 2)[0]
    clients = [open_client(qdrant_server) for _ in range(8)]
    starting = [QdrantCollections(client, alias) for client in clients]
    opened = await asyncio.gather(*(each.open(MODEL) for each in starting))
    assert set(opened) == {await collections.current()}
    for client in clients:
        await client.close()


@pytest.mark.usefixtures("qdrant_server")  # the local mode does not have it
async def test_opening_a_collection_creates_all_payload_indexes(
    client: AsyncQdrantClient, collections: QdrantCollections
) -> None:
    name = (await collections.open(MODEL)).name
    schema = (await client.get_collection(name)).payload_schema
    assert schema.keys() == {*KEYWORDS, *INSTANTS, *FLAGS}
    await client.delete_payload_index(name, "bucket", wait=True)  # as if a start had been cut short
    await collections.open(MODEL)
    assert "bucket" in (await client.get_collection(name)).payload_schema


@pytest.mark.usefixtures("qdrant_server")  # the local mode does not have it
async def test_a_filter_without_an_index_is_refused(client: AsyncQdrantClient, collections: QdrantCollections) -> None:
    name = (await collections.open(MODEL)).name
    unindexed = Filter(must=[FieldCondition(key="text", match=MatchValue(value="x"))])
    with pytest.raises(VicwError, match="Index required"), translated():
        await client.count(name, count_filter=unindexed)
    with pytest.raises(VicwError, match="Index required"), translated():
        await client.delete(name, unindexed)
    with pytest.raises(VicwError, match="Limit exceeded"), translated():
        await client.scroll(name, limit=10_001)


@pytest.mark.usefixtures("qdrant_server")  # the local mode does not have it
async def test_vectors_of_another_size_are_refused_as_a_model_mismatch(
    client: AsyncQdrantClient, collections: QdrantCollections
) -> None:
    store = QdrantVectorStore(client, (await collections.open(MODEL)).name)
    with pytest.raises(ModelMismatchError):
        await store.upsert([a_point(size=5)])


@pytest.mark.usefixtures("qdrant_server")  # the local mode does not have it
async def test_full_vectors_are_on_disk_and_quantized_ones_in_memory(
    client: AsyncQdrantClient, collections: QdrantCollections
) -> None:
    name = (await collections.open(MODEL)).name
    config = (await client.get_collection(name)).config
    assert config.params.on_disk_payload is True
    assert isinstance(config.params.vectors, dict)
    dense = config.params.vectors["dense"]
    assert dense.on_disk is True
    assert dense.quantization_config is not None
    assert dense.quantization_config.model_dump()["scalar"]["always_ram"] is True
    assert config.strict_mode_config is not None
    assert config.strict_mode_config.enabled is True


async def test_a_collection_that_weighs_terms_itself_ceases_to(
    client: AsyncQdrantClient, collections: QdrantCollections
) -> None:
    name = await collections.ensure(MODEL)
    earlier = {SPARSE: SparseVectorParams(modifier=Modifier.IDF)}
    await client.update_collection(name, sparse_vectors_config=earlier)
    payload = {"tenant": "t", "label": "Chunk"}
    store = QdrantVectorStore(client, name)
    await store.upsert([Point(str(uuid.UUID(int=n)), None, SparseVector((7,), (2.0,)), payload) for n in range(1, 3)])
    query = ScoreQuery(ids=[str(uuid.UUID(int=1))], sparse=SparseVector((7,), (3.0,)))
    await collections.open(MODEL)
    (scores,) = await store.score([query])
    assert list(scores.values()) == [6.0]
