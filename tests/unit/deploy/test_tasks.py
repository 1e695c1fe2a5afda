"""The tasks of the workers: each a function of a module ``tasks``, known by its name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from vicw_runtime.queue.celery_queue import (
    CATCH_UP,
    CONSOLIDATE,
    DREAM,
    EVICT,
    EXTRACT,
    FORGET,
    INDEX,
    MIRROR,
    RECONCILE,
    RESOLVE,
    UNDO,
    WATCH,
)
from vicw_sleep.schedule.ticks import ticks
from vicw_sleep.settings import SleepServiceSettings

SERVICES = Path(__file__).parents[3] / "services"
MODULES = sorted(
    ".".join(file.relative_to(SERVICES).with_suffix("").parts[1:])
    for service in ("ingest", "sleep")
    for file in (SERVICES / service).rglob("tasks.py")
)
FUNCTIONS = {
    EVICT: "vicw_ingest.eviction.tasks.evict",
    FORGET: "vicw_ingest.erasure.tasks.forget",
    INDEX: "vicw_ingest.index.tasks.index",
    EXTRACT: "vicw_ingest.llm_queue.tasks.extract",
    CATCH_UP: "vicw_sleep.consolidation.tasks.catch_up",
    CONSOLIDATE: "vicw_sleep.consolidation.tasks.consolidate",
    DREAM: "vicw_sleep.dream.tasks.dream",
    MIRROR: "vicw_sleep.mirror.tasks.mirror",
    RECONCILE: "vicw_sleep.reconcile.tasks.reconcile",
    WATCH: "vicw_sleep.reconcile.tasks.watch",
    RESOLVE: "vicw_sleep.resolve.tasks.resolve",
    UNDO: "vicw_sleep.history.tasks.undo",
}
_REGISTERED = """
import json, sys
from importlib import import_module
app = import_module(sys.argv[1]).app
app.loader.import_default_modules()
app.finalize()
tasks = {name: task for name, task in app.tasks.items() if not name.startswith("celery.")}
print(json.dumps({name: f"{task.__module__}.{task.__wrapped__.__name__}" for name, task in tasks.items()}))
"""


def test_each_worker_finds_its_tasks_by_name_in_the_folder_of_their_feature() -> None:
    found: dict[str, str] = {}
    for service in ("vicw_ingest", "vicw_sleep"):
        command = [sys.executable, "-c", _REGISTERED, f"{service}.worker"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        registered = json.loads(done.stdout)
        assert all(function.startswith(f"{service}.") for function in registered.values())
        found |= registered
    assert found == FUNCTIONS
    assert {function.rpartition(".")[0] for function in found.values()} == set(MODULES)


def test_the_names_in_the_queue_are_those_of_earlier_versions() -> None:
    assert sorted(FUNCTIONS) == [
        "vicw.extract.read",
        "vicw.ingest.evict",
        "vicw.ingest.forget",
        "vicw.ingest.index",
        "vicw.sleep.catch_up",
        "vicw.sleep.consolidate",
        "vicw.sleep.dream",
        "vicw.sleep.mirror",
        "vicw.sleep.reconcile",
        "vicw.sleep.resolve",
        "vicw.sleep.undo",
        "vicw.sleep.watch",
    ]


def test_the_clock_sends_tasks_that_exist(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("VICW_MIRROR_PATH", str(tmp_path))
    monkeypatch.setenv("VICW_LLM_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("VICW_LLM_MODEL", "m")
    monkeypatch.setenv("VICW_EVICTION_ITEMS", "1000")
    on_request = {FORGET, UNDO}
    assert {tick.task for tick in ticks(SleepServiceSettings.read())} == set(FUNCTIONS) - on_request


def test_a_module_of_tasks_reads_no_settings_and_makes_no_worker() -> None:
    imports = "import sys, importlib\nfor name in sys.argv[1:]: importlib.import_module(name)\n"
    workers = "print([name for name in sys.modules if name.endswith('.worker')])"
    assert _python(imports + workers, *MODULES).stdout.strip() == "[]"
    assert "VICW_REDIS_TIMEOUT_SECONDS" in _python(imports, "vicw_sleep.worker").stderr, (
        "it is read by the worker alone"
    )


def _python(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program whose settings cannot be read."""
    unreadable = os.environ | {"VICW_REDIS_TIMEOUT_SECONDS": "soon"}
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=unreadable)
