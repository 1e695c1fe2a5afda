"""The real server as a child process, and what it takes of the machine (Linux: read from /proc)."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from vicw_client import AsyncVicwClient
from vicw_shared.errors import UnavailableError

_ANNOUNCED = re.compile(rb"http://[\w.:\[\]]+")
_START_SECONDS = 180.0
_STOP_SECONDS = 20.0
_POLL_SECONDS = 0.05
_SERVE = "from vicw_standalone.cli import main; main()"


@dataclass(frozen=True, slots=True)
class ResidentSize:
    """What a process holds in RAM, in MiB: all pages, and those that are its own (no mapped files)."""

    total: float
    own: float


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server that answers at ``url``; ``pid`` is its process."""

    url: str
    pid: int

    def resident(self) -> dict[str, ResidentSize]:
        """Return the size of the server and of the embedding process, its child. Empty where /proc is not."""
        found = {"server": resident(self.pid)}
        sizes = [resident(pid) for pid in children(self.pid)]
        found["embedding"] = max((size for size in sizes if size), key=lambda size: size.total, default=None)
        return {name: size for name, size in found.items() if size is not None}


@asynccontextmanager
async def serve(data_dir: Path, *, model: str, models_dir: Path) -> AsyncIterator[RunningServer]:
    """Run `vicw serve` on a free port until the block ends, which begins when the server is ready.

    The server takes requests earlier, while it loads its model: that would be measured with them. Raises
    UnavailableError if it does not come up.
    """
    environment = os.environ | {"VICW_EMBEDDING_MODELS_DIR": str(models_dir), "VICW_LOG_LEVEL": "warning"}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _SERVE, "serve", "--port", "0"),
        *("--data-dir", str(data_dir), "--model", model),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        env=environment,
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(_START_SECONDS):
            announced = _ANNOUNCED.search(await process.stdout.readline())
            if announced is None:
                raise _ended()
            url = announced[0].decode()
            await _ready(url, process)
        yield RunningServer(url, process.pid)
    except TimeoutError as error:
        raise UnavailableError("server", f"`vicw serve` was not ready within {_START_SECONDS:g} s") from error
    finally:
        await _end(process)


async def _ready(url: str, process: asyncio.subprocess.Process) -> None:
    async with AsyncVicwClient(url) as client:
        while not await client.ready():
            if process.returncode is not None:
                raise _ended()
            await asyncio.sleep(_POLL_SECONDS)


def _ended() -> UnavailableError:
    return UnavailableError("server", "`vicw serve` ended before it was ready; its words are above")


def disk_mb(folder: Path) -> float:
    """Return the MiB that the files under ``folder`` occupy (blocks, not lengths: the engine's are sparse)."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file()) / 2**20


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(_STOP_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


def resident(pid: int) -> ResidentSize | None:
    """Return the size of a process, None if there is none of that id."""
    try:
        status = Path(f"/proc/{pid}/status").read_text("utf-8")
    except OSError:
        return None
    values = dict(re.findall(r"^(VmRSS|RssAnon):\s+(\d+) kB$", status, re.MULTILINE))
    return ResidentSize(*(round(int(values.get(name, 0)) / 1024, 1) for name in ("VmRSS", "RssAnon")))


def children(pid: int) -> list[int]:
    """Return the ids of a process's children."""
    pids: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        pids += map(int, path.read_text("utf-8").split())
    return pids
