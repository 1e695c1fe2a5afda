"""Of a hub not all edges are looked at; more for a viewer: what he may not see takes no place of what he may."""

from __future__ import annotations

from typing import Any

import pytest

from support.stores.memory import Memory
from vicw_stores.sqlite import SqliteGraphStore


@pytest.mark.parametrize(("viewer", "among"), [(None, {256}), ({"user": "Ben", "chat": "private"}, {4096})])
async def test_edge_reads_are_capped_and_less_so_for_a_viewer(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, viewer: dict[str, str] | None, among: set[int]
) -> None:
    asked: set[int | None] = set()
    for operation in ("expand", "weighted_neighbours"):
        own = getattr(SqliteGraphStore, operation)

        async def counted(*args: Any, own: Any = own, among: int | None = None) -> Any:
            asked.add(among)
            return await own(*args, among=among)

        monkeypatch.setattr(SqliteGraphStore, operation, counted)
    await memory.ingest({"id": "a", "text": "The regatta was cold.", "speaker": "Ana", "flow_id": "f"})
    await memory.retrieve("cold regatta", viewer=viewer)
    assert asked == among
