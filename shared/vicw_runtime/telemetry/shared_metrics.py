"""Shared directory for the metrics of a worker's processes, which Prometheus' client sums."""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

from vicw_shared.settings import MetricsSettings
from vicw_shared.settings.variables import named_by_variable

DIRECTORY = "PROMETHEUS_MULTIPROC_DIR"
"""Variable of Prometheus' client, which reads it once, on import."""


_PREFIX = "vicw-metrics-"
_OWNER = "owner"
"""File that the worker's processes keep locked while they run: process ids are not unique across containers."""


def share_metrics() -> None:
    """Create the shared directory, if this worker serves metrics; it is removed when the worker ends.

    Also removes the directories of killed workers. Call it before Prometheus' client is imported. Raises SettingsError.
    """
    with named_by_variable():
        settings = MetricsSettings()
    if settings.port is not None:
        _remove_leftovers(Path(tempfile.gettempdir()))
        os.environ[DIRECTORY] = directory = tempfile.mkdtemp(prefix=_PREFIX)
        _lock_directory(Path(directory))
        atexit.register(_remove, directory, os.getpid())


def _lock_directory(directory: Path) -> None:
    file = os.open(directory / "new", os.O_CREAT | os.O_RDWR, 0o600)  # stays open until the process ends
    fcntl.flock(file, fcntl.LOCK_EX)
    (directory / "new").rename(directory / _OWNER)  # already locked when it becomes visible


def _remove_leftovers(parent: Path) -> None:
    for owner in parent.glob(f"{_PREFIX}*/{_OWNER}"):
        try:
            with owner.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(owner.parent, ignore_errors=True)
        except OSError:
            continue  # in use, or another user's


def _remove(directory: str, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(directory, ignore_errors=True)
