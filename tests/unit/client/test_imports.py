"""Uploads of files: what is sent of files and folders, and how long is waited."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from vicw_client import AsyncVicwClient, BadRequestError, JobTimeoutError, Retry, VicwClient

FAST = Retry(attempts=3, first_seconds=0.0, longest_seconds=0.0)
JOB: dict[str, Any] = {
    "job": "j 1",
    "address": "/import/j 1",
    "status": "running",
    "created_at": "2026-03-02T10:00:00Z",
    "updated_at": "2026-03-02T10:00:00Z",
    "uploaded": 1,
    "bytes": 4,
    "report": {"dry_run": False},
}
type Handler = Callable[[httpx.Request], httpx.Response]


def call_sync(handler: Handler, method: str, *args: Any, **fields: Any) -> Any:
    with VicwClient("http://vicw.test", retry=FAST, transport=httpx.MockTransport(handler)) as client:
        return getattr(client, method)(*args, **fields)


def call_async(handler: Handler, method: str, *args: Any, **fields: Any) -> Any:
    async def run() -> Any:
        transport = httpx.MockTransport(handler)
        async with AsyncVicwClient("http://vicw.test", retry=FAST, transport=transport) as client:
            return await getattr(client, method)(*args, **fields)

    return asyncio.run(run())


@pytest.fixture(params=[call_sync, call_async])
def call(request: pytest.FixtureRequest) -> Callable[..., Any]:
    chosen: Callable[..., Any] = request.param
    return chosen


def test_files_and_folders_are_sent_whole_also_when_sent_again(call: Callable[..., Any], tmp_path: Path) -> None:
    garden = tmp_path / "garden"
    (garden / "herbs" / ".cache").mkdir(parents=True)
    (garden / "herbs" / "mint.md").write_text("Green.")
    (garden / "herbs" / ".cache" / "x").write_text("hidden")
    (garden / ".gitignore").write_text("*.tmp")
    (tmp_path / "chat.txt").write_bytes(b"x" * 200_000)
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(202, json=JOB) if len(seen) == 2 else httpx.Response(503)

    job = call(handler, "import_files", [garden, tmp_path / "chat.txt"], context="box", include=["*.md", "*.txt"])
    assert job.job == "j 1"
    assert seen[0].url.raw_path == b"/import?context=box&include=%2A.md&include=%2A.txt"
    for request in seen:
        assert request.headers["Content-Type"].startswith("multipart/form-data")
        body = request.content
        assert int(request.headers["Content-Length"]) == len(body), "too large an upload is refused at its start"
        names = [line.split(b'filename="')[1].split(b'"')[0] for line in body.splitlines() if b"filename=" in line]
        assert names == [b"garden/.gitignore", b"garden/herbs/mint.md", b"chat.txt"]
        assert b"x" * 200_000 in body


def test_what_is_wrong_is_known_before_anything_is_sent(call: Callable[..., Any], tmp_path: Path) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        raise AssertionError("nothing is sent")

    with pytest.raises(FileNotFoundError, match="nowhere"):
        call(handler, "import_files", [tmp_path / "nowhere"])
    with pytest.raises(FileNotFoundError, match="no file to upload"):
        call(handler, "import_files", [tmp_path])
    with pytest.raises(BadRequestError, match="timezone"):
        call(handler, "import_files", [], timezone="Mars/Olympus")


def test_an_import_is_awaited_until_it_has_ended(call: Callable[..., Any]) -> None:
    states = ["running", "cancelling", "cancelled"]

    def handler(request: httpx.Request) -> httpx.Response:
        assert request.url.raw_path == b"/import/j%201"
        assert request.method == "GET"
        return httpx.Response(200, json=JOB | {"status": states.pop(0)})

    assert call(handler, "wait_for_import", "j 1").status == "cancelled"
    assert not states
    with pytest.raises(JobTimeoutError, match="j 1"):
        call(lambda request: httpx.Response(200, json=JOB), "wait_for_import", "j 1", timeout=0)


def test_an_import_is_cancelled(call: Callable[..., Any]) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        assert (request.method, request.url.raw_path) == ("DELETE", b"/import/j%201")
        return httpx.Response(200, json=JOB | {"status": "cancelling"})

    assert call(handler, "cancel_import", "j 1").status == "cancelling"
