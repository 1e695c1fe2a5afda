"""``POST /import`` on a server: what is stored and refused of an upload, who may see it, its limits and its end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from support.api.imports import below, ended, left, packed, send, serving, stored
from support.stores.memory import Memory
from vicw_shared.clock import now
from vicw_shared.model.keys import Right, mint
from vicw_shared.settings import ImportSettings

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
    assert not below(tmp_path / "disk/uploads"), "uploaded files go when they are read"


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


async def test_an_upload_that_does_not_arrive_gives_its_place_up(memory: Memory) -> None:
    async def half() -> AsyncIterator[bytes]:
        yield PART + b'a.md"\r\n\r\n'
        await asyncio.Event().wait()

    async with serving(memory, ImportSettings(jobs=1, upload_seconds=0.05)) as http:
        refused = await http.post("/import", content=half(), headers=FORM)
        assert (refused.status_code, "VICW_IMPORT_UPLOAD_SECONDS" in refused.json()["detail"]) == (413, True)
        assert not left(memory)
        next_one = await send(http, ("b.md", b"# B\n\nText.\n"))
        assert next_one.status_code != 429, next_one.text  # on a slow machine it is too slow itself
