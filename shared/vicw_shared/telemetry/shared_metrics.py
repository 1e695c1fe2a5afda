"""One place for the metrics of a worker's processes: files of a directory, which Prometheus' client adds up."""

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
"""The client's own variable. It looks at it once, when it is imported."""


_PREFIX = "vicw-metrics-"
_OWNER = "owner"
"""A file that the worker's processes hold locked: no number of a process says who lives in another container."""


def share_metrics() -> None:
    """Make a new directory for them, if this worker is to serve metrics; it goes when the worker ends.

    Those of workers that were killed go now. Call it before anything imports Prometheus' client. Raises SettingsError.
    """
    with named_by_variable():
        settings = MetricsSettings()
    if settings.port is not None:
        _remove_leftovers(Path(tempfile.gettempdir()))
        os.environ[DIRECTORY] = directory = tempfile.mkdtemp(prefix=_PREFIX)
        _hold(Path(directory))
        atexit.register(_remove, directory, os.getpid())


def _hold(directory: Path) -> None:
    file = os.open(directory / "new", os.O_CREAT | os.O_RDWR, 0o600)  # for as long as we live
    fcntl.flock(file, fcntl.LOCK_EX)
    (directory / "new").rename(directory / _OWNER)  # whoever finds it finds it locked


def _remove_leftovers(parent: Path) -> None:
    for owner in parent.glob(f"{_PREFIX}*/{_OWNER}"):
        try:
            with owner.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(owner.parent, ignore_errors=True)
        except OSError:
            continue  # it is in use, or another user's


def _remove(directory: str, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(directory, ignore_errors=True)
