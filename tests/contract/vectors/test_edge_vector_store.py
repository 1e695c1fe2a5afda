"""What only Qdrant Edge promises: what a folder tells of how it was left."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from vicw_shared.ports import Point
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
