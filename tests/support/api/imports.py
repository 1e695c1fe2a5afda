"""An application that imports uploads, and what tests ask it."""

from __future__ import annotations

import asyncio
import io
import zipfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event
from typing import Any

import httpx

from support.stores.memory import Memory
from vicw_ingest.file_import.service import ImportJobs
from vicw_readers.intake.child import options_of
from vicw_readers.paths import read_paths
from vicw_readers.records import Record
from vicw_shared.settings import ImportSettings
from vicw_shared.wire.file_import import ImportJob
from vicw_standalone.app import create_standalone_app


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
    return below(memory.standalone.data_dir.path / "imports")[1:]


def below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.suffix != ".lock"]
