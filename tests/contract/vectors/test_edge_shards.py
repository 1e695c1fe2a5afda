"""An index has a shard for each kind of point, from the first point of that kind on."""

from __future__ import annotations

import asyncio
import json
import shutil
import uuid
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from qdrant_edge import EdgeShard

from vicw_shared.clock import now
from vicw_shared.model import Label
from vicw_shared.ports import Audience, Point, Scope, ScoreQuery, SparseVector, VectorQuery
from vicw_stores.conditions import Condition, Group, scope_conditions
from vicw_stores.edge import EdgeVectorStore

SIZE = 4
DENSE = np.array([1, 0, 0, 0], dtype=np.float32)


def point(number: int, label: Label) -> Point:
    payload = {"tenant": "t", "label": label, "domain": "general"}
    return Point(str(uuid.UUID(int=number)), DENSE, SparseVector((7,), (1.0,)), payload)


PASSAGE, STATEMENT = point(1, Label.CHUNK), point(2, Label.EVENT)


def shards(path: Path) -> set[str]:
    return {folder.name for folder in path.iterdir() if folder.is_dir()}


async def found(index: EdgeVectorStore, label: Label) -> list[str]:
    query = VectorQuery(scope=Scope(tenant="t", now=now()), limit=9, dense=DENSE, label=label)
    return [hit.id for hit in await index.search(query)]


async def test_an_index_without_points_has_no_shard_and_answers(store: Path) -> None:
    index = EdgeVectorStore(store / "vectors", SIZE)
    assert shards(store / "vectors") == set()
    for label in (Label.CHUNK, Label.EVENT):
        assert await found(index, label) == []
    ids = [PASSAGE.id, STATEMENT.id]
    assert await index.score([ScoreQuery(ids=ids, dense=DENSE)]) == [{}]
    assert (await index.domains("t"), await index.terms(ids), await index.dense(ids)) == ({}, {}, {})
    assert (await index.payloads(ids), await index.present(ids), await index.ids(after=None, limit=9)) == (
        {},
        set(),
        [],
    )
    await index.set_payload({PASSAGE.id: PASSAGE.payload})
    await index.set_sparse({PASSAGE.id: SparseVector((7,), (1.0,))})
    await index.delete(ids)
    await index.rewrite()
    await index.close()
    assert shards(store / "vectors") == set()
    assert EdgeVectorStore.exists(store / "vectors")
    assert sum(file.stat().st_size for file in (store / "vectors").rglob("*")) < 100_000


async def test_a_shard_is_made_when_its_first_point_comes_and_found_again(store: Path) -> None:
    path = store / "vectors"
    index = EdgeVectorStore(path, SIZE)
    await index.upsert([PASSAGE])
    assert shards(path) == {"passages"}
    await index.upsert([STATEMENT])
    assert shards(path) == {"passages", "statements"}
    await index.close()
    again = EdgeVectorStore(path, SIZE)
    assert (await found(again, Label.CHUNK), await found(again, Label.EVENT)) == ([PASSAGE.id], [STATEMENT.id])
    await again.close()


@pytest.mark.parametrize("lost", ["passages", "statements"])
async def test_an_index_that_lost_a_shard_is_not_taken_for_whole(store: Path, lost: str) -> None:
    path = store / "vectors"
    index = EdgeVectorStore(path, SIZE)
    await index.upsert([PASSAGE, STATEMENT])
    await index.close()
    shutil.rmtree(path / lost)
    assert not EdgeVectorStore.exists(path)


async def test_a_shard_that_a_kill_left_incomplete_is_made_anew(store: Path) -> None:
    path = store / "vectors"
    index = EdgeVectorStore(path, SIZE)
    await index.upsert([PASSAGE])
    await index.close()
    (path / "statements" / "segments").mkdir(parents=True)
    again = EdgeVectorStore(path, SIZE)
    assert shards(path) == {"passages"}
    await again.upsert([STATEMENT])
    assert json.loads((path / "shards.json").read_text()) == ["passages", "statements"]
    assert await again.ids(after=None, limit=9) == [PASSAGE.id, STATEMENT.id]
    await again.close()


async def test_a_first_statement_during_a_rewrite_is_in_the_rewritten_index(store: Path) -> None:
    index = EdgeVectorStore(store / "vectors", SIZE)
    await index.upsert([point(n, Label.CHUNK) for n in range(10, 300)])
    rewriting = asyncio.create_task(index.rewrite())
    await asyncio.sleep(0)
    await index.upsert([STATEMENT])
    await rewriting
    assert await found(index, Label.EVENT) == [STATEMENT.id]
    await index.delete([STATEMENT.id])
    await index.rewrite()
    assert shards(store / "vectors") == {"passages"}, "the last statement went, and with it its shard"
    await index.close()
    assert EdgeVectorStore.exists(store / "vectors")
    again = EdgeVectorStore(store / "vectors", SIZE)
    assert (len(await again.ids(after=None, limit=999)), await found(again, Label.EVENT)) == (290, [])
    await again.close()


async def test_every_field_that_a_search_has_a_condition_on_is_indexed(store: Path) -> None:
    index = EdgeVectorStore(store / "vectors", SIZE)
    await index.upsert([PASSAGE])
    await index.close()
    shard = EdgeShard.load(str(store / "vectors" / "passages"))
    indexed = set(shard.info().payload_schema)
    shard.close()
    some = ("a",)
    audience = Audience(context="c", identities=some, private=True)
    narrow = Scope(
        tenant="t",
        now=now(),
        contexts=some,
        domains=some,
        subtypes=some,
        subtypes_none=some,
        items=some,
        without=some,
        tags_any=some,
        tags_all=some,
        tags_none=some,
        audience=audience,
    )
    asked = {"tenant"}
    for scope in (narrow, replace(narrow, as_of=now()), replace(narrow, known_at=now())):
        asked |= fields(scope_conditions(scope))
    assert indexed == asked


def fields(condition: Condition) -> set[str]:
    if isinstance(condition, Group):
        return set().union(*map(fields, (*condition.must, *condition.must_not, *condition.should)))
    return {condition.field}
