"""Random extractions leave the store clean; extractions that are far too large are told so."""

from __future__ import annotations

from typing import Any

import pytest

from support.generators.example_count import TIMES
from support.generators.extractions import ingest_random_extractions
from support.stores.memory import Memory
from vicw_shared.errors import InvalidInputError

COUNT = 1500 * TIMES

pytestmark = pytest.mark.timeout(900)


async def test_random_extractions_leave_the_store_clean(memory: Memory) -> None:
    async def ingest(items: list[dict[str, Any]], extract: str) -> None:
        await memory.ingest(*items, extract=extract, wait=False)

    await ingest_random_extractions(COUNT, memory.standalone.graph, ingest)
    await memory.standalone.indexer.drain()
    assert (await memory.check()).violations == []


async def test_ten_thousand_entities_in_one_item_are_refused_by_their_limit(memory: Memory) -> None:
    entities = [{"name": f"thing {n}"} for n in range(10_000)]
    with pytest.raises(InvalidInputError, match="VICW_MAX_EXTRACTED"):
        await memory.ingest({"id": "x", "text": "many", "extraction": {"entities": entities}})
    assert await memory.found("many") == []


async def test_an_item_with_thousands_of_names_is_ingested_by_rules(memory: Memory) -> None:
    text = " ".join(
        f"Then Name{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n // 676 % 26)} fell." for n in range(4000)
    )
    await memory.ingest({"id": "x", "text": text}, extract="rules")
    assert await memory.found("Namebaa fell") == ["x"]
