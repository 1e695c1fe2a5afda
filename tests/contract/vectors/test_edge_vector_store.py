"""What only Qdrant Edge promises: what a folder tells of how it was left."""

from __future__ import annotations

import asyncio
import math
import uuid
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from qdrant_edge import (
    Distance,
    EdgeConfig,
    EdgeShard,
    EdgeSparseVectorParams,
    EdgeVectorParams,
    KeywordIndexParams,
    Modifier,
    UpdateOperation,
    VectorStorageDatatype,
)

from vicw_shared.clock import now
from vicw_shared.errors import UnavailableError
from vicw_shared.ports import Point, Scope, ScoreQuery, SparseVector, VectorQuery
from vicw_stores.edge import EdgeVectorStore

SIZE = 4
POINT = Point(
    "00000000-0000-0000-0000-000000000001",
    np.array([1, 0, 0, 0], dtype=np.float32),
    None,
    {"tenant": "t", "label": "Chunk"},
)


async def test_edge_keeps_acknowledged_points_and_detects_an_unclean_shutdown(store: Path) -> None:
    path = store / "vectors"
    first = EdgeVectorStore(path, SIZE)
    assert not first.unclean
    await first.upsert([POINT])
    await first.close()
    await first.close()
    second = EdgeVectorStore(path, SIZE)
    assert not second.unclean
    assert await second.ids(after=None, limit=9) == [POINT.id]
    await second.close()
    (path / "clean").unlink()
    third = EdgeVectorStore(path, SIZE)
    assert third.unclean
    await third.close()
    fourth = EdgeVectorStore(path, SIZE)
    assert fourth.unclean, "only looking does not make it agree with the graph"
    fourth.mark_compared()
    await fourth.close()
    fifth = EdgeVectorStore(path, SIZE)
    assert not fifth.unclean
    await fifth.close()


_SECRET = b"vermilion lockbox"


def _points(numbers: Iterable[int], text: str = "") -> list[Point]:
    return [
        Point(str(uuid.UUID(int=n)), np.eye(SIZE, dtype=np.float32)[n % SIZE], None, {**POINT.payload, "text": text})
        for n in numbers
    ]


def _entries(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def _files_with_secret(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file() and _SECRET in path.read_bytes()]


async def test_a_rewritten_index_has_all_points_but_no_byte_of_a_deleted_one(store: Path) -> None:
    index = EdgeVectorStore(store / "vectors", SIZE)
    await index.upsert(_points(range(1, 200)))
    await index.upsert(_points([500], _SECRET.decode()))
    await index.delete([str(uuid.UUID(int=500))])
    assert _files_with_secret(store)
    await index.rewrite()
    assert _files_with_secret(store) == []
    assert _entries(store) == ["vectors"]
    assert await index.ids(after=None, limit=999) == [point.id for point in _points(range(1, 200))]
    await index.close()
    reopened = EdgeVectorStore(store / "vectors", SIZE)
    assert not reopened.unclean
    assert len(await reopened.ids(after=None, limit=999)) == 199
    await reopened.close()


@pytest.mark.parametrize("asked", [False, True])
async def test_a_rewriting_rests_while_questions_come(
    store: Path, monkeypatch: pytest.MonkeyPatch, *, asked: bool
) -> None:
    index = EdgeVectorStore(store / "vectors", SIZE)
    await index.upsert(_points(range(1, 200)))
    if asked:
        await index.search(VectorQuery(scope=Scope(tenant="t", now=now()), limit=1, dense=POINT.dense))
    rests = list[float]()
    sleep = asyncio.sleep

    async def rest(seconds: float) -> None:
        rests.append(seconds)
        await sleep(0)

    with monkeypatch.context() as patch:
        patch.setattr("asyncio.sleep", rest)
        await index.rewrite()
    assert bool([seconds for seconds in rests if seconds > 0]) == asked
    await index.close()


async def test_changes_during_a_rewrite_are_in_the_rewritten_index(store: Path) -> None:
    index = EdgeVectorStore(store / "vectors", SIZE)
    await index.upsert(_points(range(1, 400)))
    rewriting = asyncio.create_task(index.rewrite())
    answered = 0
    for n in range(1, 40):
        await index.upsert(_points([n], "changed"))
        await index.upsert(_points([1000 + n], "new"))
        await index.delete([str(uuid.UUID(int=100 + n))])
        await index.set_payload({str(uuid.UUID(int=200 + n)): {**POINT.payload, "text": "set"}})
        answered += not rewriting.done()
        assert len(await index.present([str(uuid.UUID(int=n))])) == 1
    await rewriting
    assert answered, "it answered meanwhile"
    expected = {str(uuid.UUID(int=n)): "" for n in range(1, 400) if not 101 <= n <= 139}
    expected |= {str(uuid.UUID(int=n)): "changed" for n in range(1, 40)}
    expected |= {str(uuid.UUID(int=1000 + n)): "new" for n in range(1, 40)}
    expected |= {str(uuid.UUID(int=200 + n)): "set" for n in range(1, 40)}
    found = await index.payloads(await index.ids(after=None, limit=2000))
    assert {uid: payload["text"] for uid, payload in found.items()} == expected
    await index.close()


@pytest.mark.parametrize("swapped", [False, True])
async def test_a_failed_rewrite_leaves_an_open_whole_index(
    store: Path, monkeypatch: pytest.MonkeyPatch, swapped: bool
) -> None:
    index = EdgeVectorStore(store / "vectors", SIZE)
    await index.upsert(_points(range(1, 9)))

    def fail(*_: object, ignore_errors: bool = False) -> None:
        if not ignore_errors:
            raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("shutil.rmtree" if swapped else "shutil.copy2", fail)
        (store / "vectors" / "model.json").write_text("{}")
        with pytest.raises(UnavailableError):
            await index.rewrite()
    assert len(await index.ids(after=None, limit=99)) == 8
    await index.rewrite()
    assert _entries(store) == ["vectors"]
    assert len(await index.ids(after=None, limit=99)) == 8
    await index.close()


async def test_an_index_that_weighs_terms_itself_answers_as_before_until_it_is_rewritten(store: Path) -> None:
    make_index_of_an_earlier_program(store / "vectors")
    index = EdgeVectorStore(store / "vectors", SIZE)
    points = [replace(one, sparse=SparseVector((7, n), (1.0, 2.0))) for n, one in enumerate(_points(range(1, 5)))]
    await index.upsert(points)
    query = VectorQuery(scope=Scope(tenant="t", now=now()), limit=9, sparse=SparseVector((7, 0), (0.5, 10.0)))
    idf = [math.log(1 + (4 - having + 0.5) / (having + 0.5)) for having in (4, 1)]

    async def scores() -> list[float]:
        (exact,) = await index.score([ScoreQuery(ids=[points[0].id, points[1].id], sparse=query.sparse)])
        found = [hit.score for hit in await index.search(query)][:2]
        assert found == [exact[points[0].id], exact[points[1].id]]
        return found

    assert index.weighs_terms
    assert await scores() == pytest.approx([idf[0] + 2 * idf[1], idf[0]]), "never the square of the weights"
    await index.rewrite()
    assert not index.weighs_terms
    assert await scores() == pytest.approx([0.5 + 2 * 10.0, 0.5])
    await index.close()


def make_index_of_an_earlier_program(path: Path) -> None:
    dense = EdgeVectorParams(SIZE, Distance.Dot, datatype=VectorStorageDatatype.Turbo8)
    sparse = EdgeSparseVectorParams(modifier=Modifier.Idf)
    for name in ("passages", "statements"):
        (path / name).mkdir(parents=True)
        shard = EdgeShard.create(str(path / name), EdgeConfig({"dense": dense}, {"bm25": sparse}))
        shard.update(UpdateOperation.create_field_index("tenant", KeywordIndexParams(is_tenant=True)))
        shard.close()
