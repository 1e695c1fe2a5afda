"""``POST /import`` on a server: what is stored and refused of an upload, who may see it, its limits and its end."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest

from support.stores.memory import Memory
from vicw_ingest.file_import import service
from vicw_ingest.file_import.job_record import JobRecord
from vicw_ingest.file_import.service import ImportJobs
from vicw_readers.intake.child import options_of
from vicw_readers.paths import read_paths
from vicw_readers.records import Record
from vicw_shared.clock import now
from vicw_shared.model.keys import Right, mint
from vicw_shared.settings import ImportSettings
from vicw_shared.wire.file_import import ImportJob
from vicw_standalone.app import create_standalone_app

MAIL = b"""\
From: Ida <ida@example.org>
To: Tore <tore@example.org>
Subject: The boat
Date: Mon, 2 Mar 2026 10:00:00 +0000
Message-ID: <boat@example.org>

The boat needs a new mast before Easter.
"""
CHAT = b"""\
[02/03/2026, 10:00:00] Ida: Shall we sail on Sunday?
[13/03/2026, 10:01:00] Tore: Only if the mast is up.
"""
LINES = b'{"text": "Ok."}\n{"text": "Ok."}\n{"text": "Said without an id.", "context": "log"}\n'


class ReadHere:
    """Reads in this process: what a child costs is spared where it makes no difference."""

    def __init__(self, paths: Sequence[Path], options: Mapping[str, object], scratch: Path) -> None:
        self.titles: Mapping[str, str] = {"markdown": "Markdown"}
        self._paths, self._options = paths, options_of(dict(options))

    def records(self) -> Iterator[Record]:
        return read_paths(self._paths, self._options)

    def stop(self) -> None:
        pass

    def close(self) -> None:
        self.stop()


class ReadSlowly(ReadHere):
    """Waits before the second record until it is stopped, or the test goes on."""

    go_on = Event()

    def records(self) -> Iterator[Record]:
        for record in super().records():
            yield record
            self.go_on.wait(20)

    def stop(self) -> None:
        self.go_on.set()


def packed(**files: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/").replace("_DOT_", "."), content)
    return buffer.getvalue()


@asynccontextmanager
async def serving(
    memory: Memory, settings: ImportSettings | None = None, reading: Callable[..., Any] | None = ReadHere
) -> AsyncIterator[httpx.AsyncClient]:
    """Serve with other imports than those of the store's settings."""
    standalone = memory.standalone
    folder = standalone.data_dir.path / "imports"
    jobs = ImportJobs(standalone.ingest_ports(), settings or ImportSettings(), folder, alone=True, reading=reading)
    await jobs.places.open()
    standalone.import_jobs = jobs
    transport = httpx.ASGITransport(create_standalone_app(standalone))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60) as client:
        try:
            yield client
        finally:
            ReadSlowly.go_on.set()
            await jobs.close()


async def send(http: httpx.AsyncClient, *files: tuple[str, bytes], **query: Any) -> httpx.Response:
    return await http.post("/import", files=[("file", file) for file in files], params=query)


async def ended(http: httpx.AsyncClient, begun: httpx.Response) -> ImportJob:
    assert begun.status_code == 202, begun.text
    assert begun.headers["Location"] == begun.json()["address"]
    for _ in range(3000):
        job = ImportJob.model_validate((await http.get(begun.json()["address"])).json())
        if job.is_over:
            return job
        await asyncio.sleep(0.01)
    raise AssertionError("it does not end")


async def stored(http: httpx.AsyncClient, **query: Any) -> list[dict[str, Any]]:
    return list((await http.get("/items", params={"limit": 500, **query})).json()["items"])


def left(memory: Memory) -> list[Path]:
    return _below(memory.standalone.data_dir.path / "imports")[1:]


def _below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.suffix != ".lock"]


async def test_an_upload_of_many_formats_is_read_by_a_process_of_its_own(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is named relatively, and by a link: the process runs in another one."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "linked").symlink_to(tmp_path / "disk", target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    settings = ImportSettings(folder=Path("linked/uploads"))
    archive = packed(
        notes__trip_DOT_md=b"# Trip\n\nThe harbour of Skagen.\n\n## Food\n\nSmoked eel.\n",
        notes__plan_DOT_rtf=b"{\\rtf1 Sail to Anholt.}",
        boat_DOT_eml=MAIL,
        logo_DOT_png=b"\x89PNG\r\n\x1a\n" + bytes(64),
    )
    files = (("export.zip", archive), ("chat.txt", CHAT), ("letters/to/ida.rtf", b"{\\rtf1 Dear Ida.}"))
    async with serving(memory, settings, reading=None) as http:
        job = await ended(http, await send(http, *files, owner="Ida"))
        items = await stored(http)
    assert (job.status, job.error, job.uploaded) == ("done", None, 3)
    report = job.report
    assert {one.format: (one.files, one.items) for one in report.read} == {
        "markdown": (1, 2),
        "mail": (1, 1),
        "whatsapp": (1, 2),
    }
    assert report.created == len(items) == 5
    assert {one.title for one in report.read} >= {"Markdown"}
    refused = {one.path: one for one in report.refused}
    assert refused.keys() == {"export.zip: notes/plan.rtf", "letters/to/ida.rtf"}, "as the caller named them"
    assert refused["export.zip: notes/plan.rtf"].fix
    assert list(report.refused_kinds.values()) == [2]
    assert sum(report.passed_over_kinds.values()) == 1
    assert report.private == 3
    assert {item["sensitivity"] for item in items if item["speaker"]} == {"personal"}
    assert not _below(tmp_path / "disk/uploads"), "uploaded files go when they are read"


async def test_the_same_upload_again_stores_nothing_twice(memory: Memory) -> None:
    async with serving(memory) as http:
        first = await ended(http, await send(http, ("log.jsonl", LINES), ("a.md", b"# A\n\nText of A.\n")))
        again = await ended(http, await send(http, ("log.jsonl", LINES), ("a.md", b"# A\n\nText of A.\n")))
        assert len(await stored(http)) == 4
    assert first.report.created + first.report.linked == 4
    assert (again.report.created, again.report.unchanged + again.report.linked) == (0, 4)


async def test_options_stand_in_the_query(memory: Memory) -> None:
    archive = packed(a_DOT_md=b"# A\n\nText.\n", b_DOT_txt=b"Ein B\xfcro.\n")
    async with serving(memory) as http:
        query = {"context": "box", "include": ["*.txt"], "encoding": "latin-1", "sensitivity": "sensitive"}
        job = await ended(http, await send(http, ("x.zip", archive), owner="Ida", domain="creative", **query))
        items = await stored(http)
    assert job.report.contexts == {"box": 1}
    assert [(item["text"], item["domain"], item["sensitivity"]) for item in items] == [
        ("Ein Büro.\n", "creative", "sensitive")
    ]


async def test_names_with_folders_are_read_as_a_folder(memory: Memory) -> None:
    async with serving(memory) as http:
        files = [
            ("garden/herbs/mint.md", b"# Mint\n\nGreen.\n"),
            ("garden/.gitignore", b"*.tmp\n"),
            ("garden/x.tmp", b"x"),
        ]
        job = await ended(http, await send(http, *files))
        items = await stored(http)
    assert job.report.contexts == {"garden": 1}
    assert [item["id"] for item in items] == ["herbs/mint.md#mint"]


async def test_a_file_without_a_visible_name_is_stored_with_the_others(memory: Memory) -> None:
    async with serving(memory) as http:
        job = await ended(http, await send(http, (" .md", b"# A\n\nText.\n"), ("b.md", b"# B\n\nText of B.\n")))
    assert (job.status, job.report.contexts) == ("done", {"files": 1, "b": 1})


async def test_a_context_that_the_store_refuses_costs_its_items_alone(memory: Memory) -> None:
    lines = b'{"text": "Of no context.", "context": "\\u200b"}\n{"text": "Of one.", "context": "log"}\n'
    async with serving(memory) as http:
        job = await ended(http, await send(http, ("log.jsonl", lines)))
    assert (job.status, job.report.created, len(job.report.refused)) == ("done", 1, 1)


async def test_a_dry_run_stores_nothing(memory: Memory) -> None:
    async with serving(memory) as http:
        job = await ended(http, await send(http, ("a.md", b"# A\n\nText.\n"), ("b.rtf", b"{\\rtf1 B}"), dry_run=True))
        assert await stored(http) == []
        assert (await http.get("/contexts")).json()["contexts"] == []
    assert (job.status, job.report.dry_run, job.report.created) == ("done", True, 0)
    assert job.report.contexts == {"a": 1}
    assert [one.path for one in job.report.refused] == ["b.rtf"]


WRONG: list[tuple[dict[str, Any], list[tuple[str, bytes]], int, str]] = [
    ({}, [], 422, "body"),
    ({}, [("", b"text")], 422, "body"),
    ({"colour": "red"}, [("a.md", b"a")], 422, "colour"),
    ({"format": "runes"}, [("a.md", b"a")], 422, "format"),
    ({"timezone": "Mars/Olympus"}, [("a.md", b"a")], 422, "timezone"),
    ({"encoding": "klingon"}, [("a.md", b"a")], 422, "encoding"),
    ({"encoding": "hex"}, [("a.md", b"a")], 422, "encoding"),
    ({"include": ["!"]}, [("a.md", b"a")], 422, "include"),
    ({"exclude": ["*.md", "[z-a]"]}, [("a.md", b"a")], 422, "exclude"),
    ({"sensitivity": "secret"}, [("a.md", b"a")], 422, "sensitivity"),
    ({}, [("../a.md", b"a")], 422, "../a.md"),
    ({}, [("/etc/a.md", b"a")], 422, "/etc/a.md"),
    ({}, [("a.md", b"a"), ("a.md", b"b")], 422, "a.md"),
    ({}, [("a", b"a"), ("a/b", b"b")], 422, "a/b"),
    ({}, [("n" * 300, b"a")], 422, "body"),
    ({}, [("a/" * 1900 + "f", b"a")], 422, "a/" * 40 + "…"),
    ({}, [("big.md", bytes(2 * 2**20))], 413, "VICW_IMPORT_UPLOAD_MB"),
    ({}, [(f"{n}.md", b"a") for n in range(5)], 413, "VICW_IMPORT_FILES"),
]


async def test_a_wrong_upload_is_refused_and_leaves_nothing(memory: Memory) -> None:
    async with serving(memory, ImportSettings(upload_mb=1, files=4)) as http:
        for query, files, status, field in WRONG:
            refused = await http.post("/import", params=query, content=_form(files), headers=FORM)
            assert refused.status_code == status, refused.text
            problem = refused.json()
            named = [error["field"] for error in problem.get("errors", [])] or problem["detail"]
            assert field in named, problem
            assert not left(memory)
        assert await stored(http) == []


FORM = {"Content-Type": "multipart/form-data; boundary=cut"}
PART = b'--cut\r\nContent-Disposition: form-data; name="file"; filename="'


def _form(files: list[tuple[str, bytes]]) -> bytes:
    """Return a form with names as they are: an HTTP library would mend some."""
    parts = [PART + name.encode() + b'"\r\n\r\n' + content + b"\r\n" for name, content in files]
    return b"".join([*parts, b"--cut--\r\n"])


async def test_a_body_that_is_no_whole_form_is_refused(memory: Memory) -> None:
    form = FORM["Content-Type"]
    async with serving(memory) as http:
        for content_type, body in (
            ("application/json", b"{}"),
            ("", b"text"),
            ("multipart/form-data", b"--cut--\r\n"),
            (form, b"no form at all"),
            (form, PART + b'a"\r\n\r\nhalf'),
            (form, b"--cut\r\nX: " + b"y" * 9000 + b"\r\n\r\n"),
        ):
            headers = {"Content-Type": content_type} if content_type else {}
            refused = await http.post("/import", content=body, headers=headers)
            assert refused.status_code == 422, refused.text
            assert refused.json()["errors"][0]["field"] == "body"
            assert not left(memory)


async def test_the_address_of_a_job_is_documented(memory: Memory) -> None:
    async with serving(memory) as http:
        operation = (await http.get("/openapi.json")).json()["paths"]["/import"]["post"]
    assert operation["responses"]["202"]["headers"].keys() == {"Location"}
    assert operation["responses"]["202"]["content"]["application/json"]["schema"]


async def test_an_option_among_the_files_is_refused_with_the_place_for_it(memory: Memory) -> None:
    async with serving(memory) as http:
        refused = await http.post("/import", files={"file": ("a.md", b"a")}, data={"context": "x"})
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "context")
        assert "query" in refused.json()["errors"][0]["fix"]


async def test_an_upload_is_not_held_in_memory(memory: Memory) -> None:
    """A body over the limit of other requests is taken, and over its own is cut off before all of it came."""
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        yield PART + b'a.md"\r\n\r\n'
        while sent < 64 * 2**20:
            sent += 2**16
            yield bytes(2**16)

    async with serving(memory, ImportSettings(upload_mb=2)) as http:
        refused = await http.post("/import", content=endless(), headers=FORM)
    assert refused.status_code == 413
    assert sent <= 3 * 2**20


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
        monkeypatch.setattr(service, "DEAD_AFTER", timedelta(0))
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


async def test_another_tenant_sees_no_import(memory: Memory) -> None:
    keys = memory.standalone.keys
    tokens = {}
    for tenant, rights in (("amy", (Right.INGEST,)), ("bob", (Right.INGEST,)), ("amy", (Right.RETRIEVE,))):
        key, token = mint(tenant, rights, now())
        await keys.add(key)
        tokens[tenant, rights[0]] = {"Authorization": f"Bearer {token}"}
    async with serving(memory) as http:
        mine = tokens["amy", Right.INGEST]
        begun = await http.post("/import", files={"file": ("a.md", b"# A\n\nText.\n")}, headers=mine)
        address = begun.json()["address"]
        for method in ("GET", "DELETE"):
            refused = await http.request(method, address, headers=tokens["bob", Right.INGEST])
            assert refused.status_code == 404
            assert (await http.request(method, address, headers=tokens["amy", Right.RETRIEVE])).status_code == 403
        assert (await http.post("/import", headers=tokens["amy", Right.RETRIEVE])).status_code == 403
        assert (await http.get(address, headers=mine)).status_code == 200


async def test_an_erasure_leaves_no_file_names_behind(memory: Memory) -> None:
    async with serving(memory) as http:
        job = await ended(
            http, await send(http, ("birthday-of-the-harbour-master.md", b"# Safe\n\nIt opens at noon.\n"))
        )
        [item] = await stored(http)
        erased = await http.post("/forget", json={"items": [item["uid"]]})
        assert erased.json()["status"] == "done", erased.text
        assert (await http.get(job.address)).status_code == 404


def test_the_report_is_the_one_of_the_command() -> None:
    from vicw_ingest.file_import.summary import Summary
    from vicw_readers.records import Refused
    from vicw_standalone.terminal.import_report import summary_as_json

    summary = Summary(created=2)
    summary.report(Refused("a.rtf", None, "is a document", "Save it anew", "RTF document"))
    fields = json.loads(summary_as_json(summary))
    assert fields["refused"] == [
        {"path": "a.rtf", "line": None, "reason": "is a document", "fix": "Save it anew", "kind": "RTF document"}
    ]
    assert (fields["created"], fields["refused_kinds"]) == (2, {"RTF document": 1})
