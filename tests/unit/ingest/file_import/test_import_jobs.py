"""The jobs of ``POST /import``: how they end, what is left, and who can end them."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from support.api.imports import ReadSlowly, ended, left, send, serving, stored
from support.stores.memory import Memory
from vicw_ingest.file_import import service
from vicw_ingest.file_import.job_record import JobRecord
from vicw_ingest.file_import.service import ImportJobs
from vicw_shared.settings import ImportSettings
from vicw_shared.wire.file_import import ImportJob


async def test_more_imports_than_allowed_are_refused_for_now(memory: Memory) -> None:
    ReadSlowly.go_on.clear()
    async with serving(memory, ImportSettings(jobs=1), ReadSlowly) as http:
        begun = await send(http, ("a.md", b"# A\n\nText.\n"))
        refused = await send(http, ("b.md", b"# B\n\nText.\n"))
        assert (refused.status_code, "VICW_IMPORT_JOBS" in refused.json()["detail"]) == (429, True)
        assert int(refused.headers["Retry-After"]) > 0
        ReadSlowly.go_on.set()
        assert (await ended(http, begun)).status == "done"
        assert (await ended(http, await send(http, ("b.md", b"# B\n\nText.\n")))).status == "done"


async def test_a_cancelled_import_ends_and_keeps_what_it_stored(memory: Memory) -> None:
    ReadSlowly.go_on.clear()
    async with serving(memory, reading=ReadSlowly) as http:
        begun = await send(http, ("a.md", b"# A\n\nText.\n\n## B\n\nMore.\n"))
        cancelled = await http.delete(begun.json()["address"])
        assert (cancelled.status_code, cancelled.json()["status"]) == (200, "cancelling")
        job = await ended(http, begun)
        assert job.status == "cancelled"
        assert (await http.delete(begun.json()["address"])).json()["status"] == "cancelled"
        assert not left(memory)
        again = await ended(http, await send(http, ("a.md", b"# A\n\nText.\n\n## B\n\nMore.\n")))
        assert again.status == "done"
        assert len(await stored(http)) == 2


async def test_an_import_that_takes_too_long_fails_and_names_the_limit(memory: Memory) -> None:
    ReadSlowly.go_on.clear()
    async with serving(memory, ImportSettings(seconds=0.1), ReadSlowly) as http:
        job = await ended(http, await send(http, ("a.md", b"# A\n\nText.\n\n## B\n\nMore.\n")))
    assert job.status == "failed"
    assert "VICW_IMPORT_SECONDS" in (job.error or "")


async def test_an_import_is_interrupted_by_the_end_of_the_server(memory: Memory) -> None:
    ReadSlowly.go_on.clear()
    async with serving(memory, reading=ReadSlowly) as http:
        begun = await send(http, ("a.md", b"# A\n\nText.\n\n## B\n\nMore.\n"))
    async with serving(memory) as http:
        job = ImportJob.model_validate((await http.get(begun.json()["address"])).json())
        assert (job.status, job.is_over) == ("interrupted", True)
        assert "again" in (job.error or "")
        assert not left(memory)


async def test_another_copy_of_the_service_tells_of_an_import_and_cancels_it(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "BEAT_SECONDS", 0.05)
    ReadSlowly.go_on.clear()
    ports, folder = memory.standalone.ingest_ports(), memory.standalone.data_dir.path / "imports"
    copy = ImportJobs(ports, ImportSettings(), folder, alone=False)
    async with serving(memory, reading=ReadSlowly) as http:
        begun = await send(http, ("a.md", b"# A\n\nText.\n\n## B\n\nMore.\n"))
        job = begun.json()["job"]
        assert (await copy.status("default", job)).status == "running"
        assert (await copy.cancel("default", job)).status == "cancelling"
        assert (await ended(http, begun)).status == "cancelled"
        assert (await copy.status("default", job)).status == "cancelled"
    await copy.close()


async def test_a_job_of_a_copy_that_is_long_silent_counts_as_interrupted(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    ReadSlowly.go_on.clear()
    ports, folder = memory.standalone.ingest_ports(), memory.standalone.data_dir.path / "imports"
    copy = ImportJobs(ports, ImportSettings(), folder, alone=False)
    async with serving(memory, reading=ReadSlowly) as http:
        job = (await send(http, ("a.md", b"# A\n\nText.\n\n## B\n\nMore.\n"))).json()["job"]
        assert (await copy.status("default", job)).status == "running"
        monkeypatch.setattr(service, "IMPORT_DEAD_AFTER", timedelta(0))
        assert (await copy.status("default", job)).status == "interrupted"
    await copy.close()


async def test_an_import_that_breaks_off_leaves_no_process_and_no_work(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise RuntimeError("the driver has a secret")

    monkeypatch.setattr(service, "BEAT_SECONDS", 0.05)
    monkeypatch.setattr(JobRecord, "advance", fail)
    ReadSlowly.go_on.clear()
    async with serving(memory, reading=ReadSlowly) as http:
        job = await ended(http, await send(http, ("a.md", b"# A\n\nText.\n\n## B\n\nMore.\n")))
        assert (job.status, "secret" in str(job.error), "log" in str(job.error)) == ("failed", False, True)
        assert ReadSlowly.go_on.is_set(), "it reads no further"
        assert await stored(http) == [], "and what was read is not stored afterwards"


async def test_an_erasure_ends_the_imports_that_run_and_their_records_stay_away(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "BEAT_SECONDS", 0.05)
    ReadSlowly.go_on.clear()
    async with serving(memory, reading=ReadSlowly) as http:
        [item] = (await http.post("/ingest", json={"context": "c", "items": [{"text": "Old."}]})).json()["items"]
        begun = await send(http, ("a.md", b"# A\n\nText.\n\n## B\n\nMore.\n"))
        assert (await http.post("/forget", json={"items": [item["uid"]]})).json()["status"] == "done"
        for _ in range(3000):
            if not left(memory):
                break
            await asyncio.sleep(0.01)
        assert not left(memory), "the files are gone"
        assert (await http.get(begun.json()["address"])).status_code == 404
        assert await stored(http) == []
    assert (await memory.standalone.graph.record.receipt("default", f"import:{begun.json()['job']}")) is None


async def test_an_erasure_leaves_no_file_names_behind(memory: Memory) -> None:
    async with serving(memory) as http:
        job = await ended(
            http, await send(http, ("birthday-of-the-harbour-master.md", b"# Safe\n\nIt opens at noon.\n"))
        )
        [item] = await stored(http)
        erased = await http.post("/forget", json={"items": [item["uid"]]})
        assert erased.json()["status"] == "done", erased.text
        assert (await http.get(job.address)).status_code == 404
