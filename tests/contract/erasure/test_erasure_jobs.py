"""Erasures that requests begin: durable before anything goes, worked off by anyone, and told in numbers alone."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from support.stores.pairs import Side, asked_for
from vicw_ingest.erasure.eraser import Eraser
from vicw_ingest.erasure.jobs import ErasureJobs, ErasureWorker
from vicw_ingest.erasure.proof import FinishedErasure
from vicw_ingest.erasure.requests.service import erase
from vicw_ingest.erasure.service import Forgetting
from vicw_shared.errors import MissingRecordError
from vicw_shared.model import EdgeRegistry
from vicw_shared.progress import Progress, silent
from vicw_shared.settings import LimitSettings
from vicw_shared.wire.forget import EraseRequest, Erasure

TEXT = "Philippa Montgomery hid the violin behind the organ pipes."
LETTERS = "Philippa Montgomery's private correspondence"


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


class Erasing:
    """The jobs over one pair of stores, worked off when told."""

    def __init__(self, side: Side) -> None:
        self.side = side
        self.eraser = Eraser(side.graph, side.indexer.indexes, EdgeRegistry.with_core_types())
        self.worker = ErasureWorker(side.graph, self.run_all, files=False)
        self.jobs = ErasureJobs(self.eraser, self.worker)

    async def run_all(self, progress: Progress) -> list[FinishedErasure]:
        async def drain() -> None:
            await self.side.indexer.drain()

        forgetting = Forgetting(
            eraser=self.eraser, index_queued=drain, files=None, mirror=None, wait_seconds=5, progress=progress
        )
        return (await forgetting.forget([]))[1]

    async def begin(self, tenant: str = "t", **fields: object) -> Erasure:
        request = EraseRequest.model_validate({"wait": False, **fields})
        return await erase(request, tenant, self.jobs, limits=LimitSettings(items=10), wait_seconds=0)


@pytest.fixture
async def erasing(side: Side) -> Erasing:
    for tenant in ("t", "other"):
        for context in ("hall", LETTERS):
            item = {"id": "v", "text": TEXT, "speaker": "Philippa Montgomery", "user": "philippa-montgomery"}
            await side.ingest({"context": context, "items": [item]}, tenant, None)
    await side.indexer.drain()
    return Erasing(side)


async def left(side: Side, tenant: str) -> set[str]:
    return {node.context for node in (await side.nodes()).values() if node.tenant == tenant and node.text == TEXT}


@pytest.mark.parametrize(
    ("asked", "stays"),
    [
        ({"items": ["v"], "context": "hall"}, {LETTERS}),
        ({"context": LETTERS}, {"hall"}),
        ({"user": "philippa-montgomery"}, set()),
        ({"user": "philippa-montgomery", "context": "hall"}, {LETTERS}),
        ({"filter": {"speaker": "Philippa Montgomery", "context": "hall"}}, {LETTERS}),
        ({"filter": {"id": "v"}, "context": "hall"}, {LETTERS}),
        ({"filter": {"user": "philippa-montgomery"}, "all": True}, set()),
        ({"all": True}, set()),
    ],
    ids=str,
)
async def test_an_erasure_is_durable_at_once_and_proven_in_the_end(
    side: Side, erasing: Erasing, asked: dict[str, Any], stays: set[str]
) -> None:
    begun = await erasing.begin(**asked)
    assert begun.status == "running"
    assert len(await left(side, "t")) == 2, "nothing goes before somebody works it off"
    await Erasing(side).worker.run_once()  # another process, after a kill
    done = await erasing.jobs.status("t", begun.erasure or "")
    assert (done.status, done.selected, done.step) == ("done", begun.selected, None)
    assert done.proof is not None
    assert (done.proof.proven, done.proof.found) == (True, ())
    assert await left(side, "t") == stays
    assert len(await left(side, "other")) == 2
    receipt = await side.graph.record.receipt("t", f"erasure:{begun.erasure}")
    assert receipt is not None
    assert "hilippa" not in json.dumps(receipt.body), "the receipt stays, and so tells of numbers alone"


async def test_several_erasures_go_together_and_others_cannot_read_them(erasing: Erasing) -> None:
    begun = [await erasing.begin(items=["v"], context="hall"), await erasing.begin("other", user="philippa-montgomery")]
    with pytest.raises(MissingRecordError):
        await erasing.jobs.status("other", begun[0].erasure or "")
    assert await erasing.worker.run_once() is False
    for tenant, one in zip(("t", "other"), begun, strict=True):
        assert (await erasing.jobs.status(tenant, one.erasure or "")).status == "done"


async def test_an_erasure_that_a_command_finished_is_done(erasing: Erasing) -> None:
    begun = await erasing.begin(items=["v"], context="hall")
    await erasing.run_all(silent)
    done = await erasing.jobs.status("t", begun.erasure or "")
    assert (done.status, done.proof) == ("done", None)
