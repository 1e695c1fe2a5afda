from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from contract.graphs import Graph
from vicw_shared.adapters.data_dir import DataDir
from vicw_shared.adapters.sqlite import SqliteGraphStore


@pytest.fixture(params=["sqlite"])
async def graph(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Graph]:
    """An empty graph of every engine. A further one is one more parameter."""
    with DataDir(store) as data_dir:
        opened = SqliteGraphStore(data_dir)
        yield opened
        await opened.close()
