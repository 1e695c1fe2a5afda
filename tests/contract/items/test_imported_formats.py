"""A file of every format is read to the same items, chains and payloads on the embedded stores and the platform's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from support.answers.comparison import same_edges
from support.files.one_of_everything import KNOWN, write_everything, write_the_rest
from support.stores.pairs import Clockwork, Side, embedded, platform
from support.stores.qdrant import server_if_any
from vicw_ingest.file_import.batches import ItemBatch, batched
from vicw_readers.intake.source_file import ImportOptions
from vicw_readers.paths import read_paths
from vicw_readers.records import Refused, Report

pytestmark = pytest.mark.servers


def batches_of(folder: Path) -> list[ItemBatch]:
    """Return what a command would send of a folder. Nothing in it is refused."""
    reports: list[Report] = []
    options = ImportOptions(context="everything", owner="Ida")
    found = list(batched(read_paths([folder], options), reports.append, max_items=20, max_chars=100_000))
    assert not any(isinstance(report, Refused) for report in reports), reports
    return found


async def test_every_format_is_the_same_on_embedded_and_platform_stores(
    request: pytest.FixtureRequest, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pypdfium2", reason="the extra `documents` is not installed")
    folder = write_everything(tmp_path / "desk")
    formats = {known.reader for known in KNOWN} | write_the_rest(folder / "rest")
    batches = batches_of(folder)
    records = [record for batch in batches for record in batch.items]
    assert {record.reader for record in records} == formats
    clock = Clockwork()
    clock.install(monkeypatch)
    neo4j = request.getfixturevalue("neo4j_server")
    async with embedded(store) as ours, platform(neo4j, server_if_any(request)) as theirs:

        async def both(do: Callable[[Side], Awaitable[Any]]) -> Any:
            clock.next_operation()
            came = []
            for side in (ours, theirs):
                clock.next_side()
                came.append(await do(side))
            assert came[0] == came[1]
            return came[0]

        for batch in batches:
            items = [record.item.model_dump(mode="json", exclude_unset=True) for record in batch.items]
            body = {"context": batch.context, "domain": batch.domain, "items": items}
            await both(lambda side, body=body: side.ingest(body, "t", None))  # type: ignore[misc]
        nodes = await both(Side.nodes)
        same_edges(await ours.edges(), await theirs.edges())
        await both(lambda side: side.indexer.drain())
        await both(Side.payloads)
    said = Counter(node.source_id for node in nodes.values() if node.content_hash)
    assert said == Counter(record.item.id for record in records)
