"""Collections and edge types of an integration travel; where they are not registered, that is said."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from support.stores.graph_records import Graph, edge, node, put
from support.stores.neo4j import empty_neo4j, open_neo4j
from vicw_core.archive.reader import ArchiveReader
from vicw_core.archive.writer import ArchiveWriter
from vicw_shared.errors import InvalidInputError
from vicw_shared.extensions import Registries
from vicw_shared.model import Category, CollectionRegistry, EdgeRegistry, EdgeType, Label, NodeCollection
from vicw_shared.ports import Edges, ModelIdentity
from vicw_sleep.archive.exporter import ExportSelection, ExportSource, export
from vicw_sleep.archive.importer import ImportTarget, import_archive
from vicw_sleep.archive.validator import validate
from vicw_stores.data_dir import DataDir
from vicw_stores.sqlite import SqliteGraphStore

OWNED = EdgeType("TODO_OWNED_BY", Category.AGENCY, frozenset({(Label.ENTITY, Label.ENTITY)}), 0.5)


def extended() -> Registries:
    registries = Registries(EdgeRegistry.with_core_types(), CollectionRegistry())
    registries.edges.register(OWNED)
    registries.collections.register(NodeCollection("todos", Label.ENTITY, "todo"))
    return registries


@pytest.fixture(params=["sqlite", pytest.param("neo4j", marks=pytest.mark.servers)])
async def graph(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Graph]:
    if request.param == "sqlite":
        async with sqlite(store / "one") as opened:
            yield opened
        return
    server = request.getfixturevalue("neo4j_server")
    empty_neo4j(server)
    async with open_neo4j(server, extended().edges) as neo:
        yield neo
    empty_neo4j(server, schema=True)  # or the type would be known to whoever comes after


@asynccontextmanager
async def sqlite(path: Path) -> AsyncIterator[Graph]:
    with DataDir(path) as data_dir:
        opened = SqliteGraphStore(data_dir, extended().edges)
        yield opened
        await opened.close()


async def without_vectors(_: ModelIdentity) -> None:
    """Have no vectors."""


async def test_registered_collections_and_edge_types_are_exported_and_imported(
    graph: Graph, store: Path, tmp_path: Path
) -> None:
    nodes = [node("c", Label.CONTEXT), node("Ana", subtype="person"), node("milk", subtype="todo")]
    homes = [edge("BELONGS_TO", name, "c") for name in ("Ana", "milk")]
    await put(graph, nodes, [*homes, edge("TODO_OWNED_BY", "milk", "Ana")])
    with ArchiveWriter(tmp_path / "e") as writer:
        manifest = await export(ExportSource(graph=graph), writer, extended(), ExportSelection(), program="test")
    assert manifest.rows(["todos.jsonl"]) == 1
    (owned,) = [declared for declared in manifest.edge_types if declared.name == "TODO_OWNED_BY"]
    assert (owned.pairs, owned.weight) == ((("Entity", "Entity"),), 0.5)
    with pytest.raises(InvalidInputError, match="TODO_OWNED_BY is not registered here"):
        validate(ArchiveReader(tmp_path / "e"), EdgeRegistry.with_core_types())
    judged = validate(ArchiveReader(tmp_path / "e"), extended().edges)
    async with sqlite(store / "two") as other:
        await import_archive(judged, ImportTarget(graph=other, open_vectors=without_vectors))
        assert await other.nodes("t", [one.uid for one in nodes]) == {one.uid: one for one in nodes}
        assert "TODO_OWNED_BY" in {one.type for one, _, _ in await other.scan(Edges(), limit=10)}
