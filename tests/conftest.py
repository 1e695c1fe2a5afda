from __future__ import annotations

import signal
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from hypothesis import settings

from support.fast_directory import fast_directory, keep_temporary_files_in_memory
from support.stores.memory import Memory, open_memory

keep_temporary_files_in_memory()

# How long an example takes says something of the machine, not of what is tested.
settings.register_profile("vicw", deadline=None)
settings.load_profile("vicw")

# A shell that runs the tests in the background has them, and all that they start, ignore Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = ["support.servers.plugin"]


@pytest.fixture(scope="session", autouse=True)
def no_consolidation_at_work() -> Iterator[None]:
    """No comparison of the stores waits for a consolidation that is at work: in a test it knows of it.

    For all tests at once: a patch of each would be undone last, and what a test breaks stay so until its stores close.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vicw_sleep.reconcile.discrepancies.AT_WORK_SECONDS", 0.0)
        yield


@pytest.fixture(scope="session", autouse=True)
def loggers_that_can_be_captured() -> Iterator[None]:
    """A command that configures the log makes loggers keep it, so that later tests could not capture theirs."""
    configure = structlog.configure

    def configure_uncached(**settings: Any) -> None:
        configure(**{**settings, "cache_logger_on_first_use": False})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(structlog, "configure", configure_uncached)
        yield


@pytest.fixture(autouse=True)
def log_of_before() -> Iterator[None]:
    """A command sets the level of its whole process, which would drop what a later test looks for."""
    before = structlog.get_config()
    yield
    structlog.configure(**before)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Path]:
    """A data directory, in memory where that can be had."""
    with tempfile.TemporaryDirectory(dir=fast_directory() or tmp_path, prefix="vicw-test-") as name:
        yield Path(name) / "data"


@pytest.fixture
async def memory(store: Path) -> AsyncIterator[Memory]:
    """A whole memory that must be clean when the test is over."""
    async with open_memory(store) as opened:
        yield opened
        report = await opened.check()
        assert report.violations == []
