"""Whatever arrives in whatever order, the chains are those of a sorted list."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.fast_directory import fast_directory
from support.stores.memory import open_memory

_ITEM = st.fixed_dictionaries(
    {
        "id": st.sampled_from([f"i{n}" for n in range(12)]),
        "text": st.sampled_from(["one", "two", "three"]),
        "flow_id": st.sampled_from(["f", "g", None]),
        "timestamp": st.sampled_from([None, *(f"2024-01-0{day}T00:00:00Z" for day in range(1, 5))]),
        "flow_step": st.sampled_from([None, None, 1, 2, 3, -5]),
        "speaker": st.sampled_from([None, "Ana"]),
    }
)
_REQUESTS = st.lists(st.lists(_ITEM, min_size=1, max_size=5, unique_by=lambda item: item["id"]), min_size=1, max_size=6)


@given(_REQUESTS, st.booleans())
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_order_of_arrival_updates_and_moves_leaves_whole_chains(
    requests: list[list[dict[str, Any]]], together: bool
) -> None:
    async def run() -> None:
        with tempfile.TemporaryDirectory(dir=fast_directory()) as path:
            async with open_memory(Path(path) / "data") as memory:
                calls = [memory.ingest(*items) for items in requests]
                if together:
                    await asyncio.gather(*calls)
                else:
                    for call in calls:
                        await call
                report = await memory.check()
                assert report.violations == []
                assert report.waiting == 0
                assert report.points == sum(1 for _ in await memory.standalone.vectors.ids(after=None, limit=10_000))

    asyncio.run(run())
