from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from memory import Memory, open_memory

_RAM = Path("/dev/shm")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Path]:
    """A data directory, in memory where there is such a file system: the engines sync dozens of files at first."""
    if not _RAM.is_dir():
        yield tmp_path / "data"
        return
    with tempfile.TemporaryDirectory(dir=_RAM, prefix="vicw-test-") as name:
        yield Path(name) / "data"


@pytest.fixture
async def memory(store: Path) -> AsyncIterator[Memory]:
    """A whole memory that must be clean when the test is over."""
    async with open_memory(store) as opened:
        yield opened
        report = await opened.check()
        assert report.violations == []
