"""One place for the metrics of a worker's processes: files of a directory, which Prometheus' client adds up."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

from vicw_shared.settings import MetricsSettings
from vicw_shared.settings.variables import named_by_variable

DIRECTORY = "PROMETHEUS_MULTIPROC_DIR"
"""The client's own variable. It looks at it once, when it is imported."""


def share_metrics() -> None:
    """Make a new directory for them, if this worker is to serve metrics; it goes when the worker ends.

    Call it before anything imports Prometheus' client. Raises SettingsError.
    """
    with named_by_variable():
        settings = MetricsSettings()
    if settings.port is not None:
        os.environ[DIRECTORY] = directory = tempfile.mkdtemp(prefix="vicw-metrics-")
        atexit.register(_remove, directory, os.getpid())


def _remove(directory: str, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(directory, ignore_errors=True)
