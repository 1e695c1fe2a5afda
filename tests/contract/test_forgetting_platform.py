"""``vicw forget --platform`` over Neo4j and Qdrant: the command's own work, but for opening the engines."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from contract.sides import Side, platform
from contract.test_erasing import _SECRET, everything
from contract.test_folding import REGISTRY, sound, tell, turn
from qdrant_servers import server_if_any
from servers.neo4j.server import Neo4jServer
from vicw_ingest.erasing.choosing import choose_items
from vicw_standalone.cli import forget

pytestmark = pytest.mark.servers


@pytest.fixture
async def side(
    request: pytest.FixtureRequest, neo4j_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Side]:
    async with platform(neo4j_server, server_if_any(request)) as opened:
        monkeypatch.setattr("vicw_standalone.forgetting.platform.Wiring", lambda settings: Opened(opened))
        yield opened


class Opened:
    """The wiring of a platform whose engines are open already; whoever has to follow is the side's indexer."""

    def __init__(self, side: Side) -> None:
        self.engines = SimpleNamespace(graph=side.graph, indexes=side.indexer.indexes)
        self.registry = REGISTRY
        self.wake = side.indexer.drain

    async def open(self) -> None: ...

    async def close(self) -> None: ...


async def test_an_item_is_erased_and_proven_beside_a_mirror(
    side: Side, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    monkeypatch.setenv("VICW_MIRROR_PATH", str(mirror))
    monkeypatch.setenv("VICW_MIRROR_TENANT", "t")
    await tell(side, [turn(0, "Ben left."), turn(1, _SECRET)])
    dry = await forget._on_platform(lambda graph: choose_items(graph, "t", ["1"], None), [], True, True, None)
    assert dry == []
    assert "vermilion" in await everything(side), "nothing went"
    (ended,) = await forget._on_platform(lambda graph: choose_items(graph, "t", ["1"], None), [], False, True, None)
    assert ended.proof.holds, ended.proof
    assert ended.proof.read > 0, "the mirror was made, and searched"
    assert "vermilion" not in await everything(side)
    pages = b"".join(path.read_bytes() for path in mirror.rglob("*") if path.is_file())
    assert b"Ben left" in pages
    assert b"vermilion" not in pages
    assert await side.graph.erasures() == []
    await sound(side)


async def test_a_file_in_the_mirror_that_has_it_stands_in_the_way(
    side: Side, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    monkeypatch.setenv("VICW_MIRROR_PATH", str(mirror))
    monkeypatch.setenv("VICW_MIRROR_TENANT", "t")
    await tell(side, [turn(0, "Ben left."), turn(1, _SECRET)])
    (first,) = await forget._on_platform(lambda graph: choose_items(graph, "t", ["1"], None), [], False, True, None)
    assert first.proof.holds
    await tell(side, [turn(2, f"Again: {_SECRET[:60]} above the door.")])
    (mirror / "my own notes.txt").write_text(f"I recall: {_SECRET[:60]}")
    (ended,) = await forget._on_platform(lambda graph: choose_items(graph, "t", ["2"], None), [], False, True, None)
    assert ended.proof.places == [str(mirror / "my own notes.txt")]
    assert len({note.erasure for note in await side.graph.erasures()}) == 1, "it is not over"
    (mirror / "my own notes.txt").unlink()
    (again,) = await forget._on_platform(None, [], False, True, None)
    assert again.proof.holds
    assert await side.graph.erasures() == []
