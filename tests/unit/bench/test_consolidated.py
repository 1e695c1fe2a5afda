"""A filled store with everything consolidated: a run that was stopped goes on."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from support.fakes.hash_embedder import HashEmbedder
from support.stores.memory import settings_for
from vicw_bench import targets
from vicw_bench.fidelity.consolidated import Consolidated, open_consolidated
from vicw_bench.targets import LocalTarget, open_local
from vicw_core.consolidation.consolidate import Consolidator
from vicw_shared.model import Label
from vicw_shared.ports import scan_pages
from vicw_shared.wire.ingest import IngestRequest

_PLACES = ("Lima", "Oslo", "Cairo")


def quiet(step: str, done: int, total: int) -> None: ...


def opened(tmp_path: Path, store: Path) -> AbstractAsyncContextManager[LocalTarget]:
    return open_local(settings_for(tmp_path / "unused"), store, HashEmbedder())


async def consolidated(tmp_path: Path, store: Path) -> Consolidated:
    async with open_consolidated(partial(opened, tmp_path), store, quiet) as (_, found):
        return found


async def test_an_interrupted_consolidated_fill_continues_and_counts_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(targets, "scan_pages", partial(scan_pages, limit=1))
    one, other = tmp_path / "one", tmp_path / "other"
    for store in (one, other):
        async with opened(tmp_path, store) as target:
            items = [
                {"id": f"{place}{n}", "text": f"We spoke of {place} in round {n}.", "flow_id": place}
                for place in _PLACES
                for n in range(5)
            ]
            request = IngestRequest.model_validate({"context": "c", "items": items})
            await target.settled(await target.remember(request))
    own, settled = Consolidator.consolidate, 0

    async def once(consolidator: Consolidator, *what: Any) -> None:
        nonlocal settled
        if settled:
            raise RuntimeError("stopped")
        settled += 1
        await own(consolidator, *what)

    with monkeypatch.context() as broken:
        broken.setattr(Consolidator, "consolidate", once)
        with pytest.raises(RuntimeError, match="stopped"):
            await consolidated(tmp_path, one)
    found = await consolidated(tmp_path, one)
    assert (found.events, found.macros, found.refused, found.passages) == (15, 3, 0, 15)
    assert 3 <= found.vectors < 15
    assert found.told == found.statements > 0, "statements keep theirs"
    assert found == await consolidated(tmp_path, other)
    assert found == await consolidated(tmp_path, one), "it is noted"
    async with opened(tmp_path, one) as target:
        assert await target.vectors_of(Label.CHUNK) == 15, "the store itself is as it was"
