"""``kill -9`` of an export and of an import, at whatever moment, and disks that are full."""

from __future__ import annotations

import asyncio
import random
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.processes.server import VICW, environment, temporary_directory
from support.processes.small_disk import Disk, small_disk
from support.stores.exports import assert_same_exports
from support.stores.memory import open_memory

pytestmark = [pytest.mark.process, pytest.mark.crash, pytest.mark.timeout(900)]
_PATIENCE_SECONDS = 120.0


@pytest.fixture
def filled(store: Path) -> Path:
    async def fill() -> None:
        async with open_memory(store / "source") as memory:
            for start in range(0, 1000, 250):
                turns = (
                    {"id": f"m{n}", "text": f"Ana met Ben {n} times", "speaker": "Ana", "flow_id": "f"}
                    for n in range(start, start + 250)
                )
                await memory.ingest(*turns)

    store.mkdir()
    asyncio.run(fill())
    return store / "source"


def vicw(*arguments: str | Path) -> subprocess.Popen[str]:
    command = [str(VICW), *map(str, arguments)]
    return subprocess.Popen(command, env=environment(Path("/nonexistent")), stdout=subprocess.PIPE, text=True)


def run_to_success(*arguments: str | Path) -> str:
    with vicw(*arguments) as process:
        told = process.communicate(timeout=_PATIENCE_SECONDS)[0]
        assert process.returncode == 0, told
    return told


def kill_while_running(after: float, begun: Callable[[], bool], *arguments: str | Path) -> bool:
    """Kill a command so long after it has begun its work; tell whether it was still at it."""
    with vicw(*arguments) as process:
        until = time.monotonic() + _PATIENCE_SECONDS
        while not begun() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.002)
        time.sleep(after)
        process.kill()
        process.communicate()
        return process.returncode != 0


def test_a_killed_export_leaves_nothing_under_its_name(filled: Path, tmp_path: Path) -> None:
    draw, path, deaths = random.Random(1), tmp_path / "export", 0
    for _ in range(6):
        died = kill_while_running(
            draw.random() * 0.4,
            (tmp_path / ".export.partial" / "events.jsonl").exists,
            *("export", "--to", path, "--data-dir", filled),
        )
        deaths += died
        if path.exists():
            assert "every record is valid" in run_to_success("import", path, "--check")
            break
    assert deaths
    run_to_success("export", "--to", path, "--data-dir", filled)
    assert [one.name for one in tmp_path.iterdir()] == ["export"]
    assert "every record is valid" in run_to_success("import", path, "--check")


def test_a_killed_import_is_resumed_by_the_next_run(filled: Path, tmp_path: Path, store: Path) -> None:
    draw, other, deaths = random.Random(2), store / "other", 0
    run_to_success("export", "--to", tmp_path / "one", "--data-dir", filled)
    for _ in range(6):
        died = kill_while_running(
            0.05 + draw.random() * 0.7,
            (other / "graph.sqlite3").exists,
            *("import", tmp_path / "one", "--data-dir", other),
        )
        deaths += died
        if not died:
            break
    assert deaths
    run_to_success("import", tmp_path / "one", "--data-dir", other)
    assert run_to_success("check", "--data-dir", other).endswith("0 waiting\nclean\n")
    run_to_success("export", "--to", tmp_path / "two", "--data-dir", other)
    assert_same_exports(tmp_path / "one", tmp_path / "two")


@pytest.fixture
def disk() -> Iterator[Disk]:
    with temporary_directory() as directory, small_disk(directory, 320) as mounted:
        yield mounted


def run_to_refusal(*arguments: str | Path) -> str:
    command = [str(VICW), *map(str, arguments)]
    variables = environment(Path("/nonexistent"), VICW_MIN_FREE_MB="8")
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stderr


def test_an_export_onto_a_full_disk_leaves_no_files(filled: Path, disk: Disk) -> None:
    path = disk.path / "export"
    for mib in (0, 0.3, 1):
        disk.leave(mib)
        told = run_to_refusal("export", "--to", path, "--data-dir", filled)
        assert "The disk is full: there is no room for the export" in told
        assert [one.name for one in disk.path.iterdir()] == ["ballast"]
    disk.clear()
    run_to_success("export", "--to", path, "--data-dir", filled)


def test_an_import_onto_a_full_disk_is_resumed_once_space_is_free(filled: Path, tmp_path: Path, disk: Disk) -> None:
    run_to_success("export", "--to", tmp_path / "one", "--data-dir", filled)
    disk.leave(9)
    other = disk.path / "other"
    assert "MiB free and needs" in run_to_refusal("import", tmp_path / "one", "--data-dir", other)
    disk.clear()
    run_to_success("import", tmp_path / "one", "--data-dir", other)
    assert run_to_success("check", "--data-dir", other).endswith("0 waiting\nclean\n")
