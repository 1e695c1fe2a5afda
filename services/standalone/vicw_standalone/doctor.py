"""What is wrong with this machine or these settings, and what to do about it."""

from __future__ import annotations

import os
import platform
import shutil
import socket
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import httpx

from vicw_embedding import library
from vicw_shared.adapters.data_dir import DataDir
from vicw_shared.embedding_models import MODELS
from vicw_shared.errors import DataDirError, VicwError
from vicw_standalone.settings import Settings

_MIN_MEMORY_MB = 512
_ROOMY_MB = 1024


class Verdict(StrEnum):
    """How bad a finding is. Only ``PROBLEM`` keeps the server from working."""

    FINE = "fine"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. ``fix`` is empty where nothing is to be done."""

    what: str
    verdict: Verdict
    detail: str
    fix: str = ""


def examine(settings: Settings) -> Iterator[Finding]:
    """Look at everything, one finding after the other. Changes nothing but creating the data directory."""
    checks: tuple[Callable[[Settings], Finding], ...] = (
        _processor,
        _memory,
        _engines,
        _data_dir,
        _room,
        _model,
        _port,
    )
    for check in checks:
        try:
            yield check(settings)
        except Exception as error:
            yield Finding(check.__name__.strip("_"), Verdict.PROBLEM, str(error), "Report this with the text above")


def _processor(_: Settings) -> Finding:
    cores = os.cpu_count() or 1
    machine = platform.machine()
    try:
        flags = Path("/proc/cpuinfo").read_text()
    except OSError:
        flags = "avx2"
    if machine == "x86_64" and "avx2" not in flags:
        fix = "Build llama.cpp for it: CMAKE_ARGS='-DGGML_AVX2=OFF -DGGML_FMA=OFF -DGGML_F16C=OFF' make clean setup"
        return Finding("processor", Verdict.PROBLEM, "no AVX2: the embedding process would die", fix)
    return Finding("processor", Verdict.FINE, f"{machine}, {cores} cores")


def _memory(_: Settings) -> Finding:
    try:
        lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        available = int(lines["MemAvailable"].split()[0]) // 1024
    except (OSError, KeyError, ValueError):
        return Finding("memory", Verdict.NOTE, "cannot be read on this system")
    if available < _MIN_MEMORY_MB:
        return Finding("memory", Verdict.PROBLEM, f"{available} MiB available", f"Free at least {_MIN_MEMORY_MB} MiB")
    return Finding("memory", Verdict.FINE, f"{available} MiB available")


def _engines(_: Settings) -> Finding:
    import llama_cpp

    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE t USING fts5 (x)")
    except sqlite3.OperationalError:
        return Finding("engines", Verdict.PROBLEM, "SQLite has no FTS5", "Use a Python whose SQLite has it")
    finally:
        connection.close()
    return Finding(
        "engines", Verdict.FINE, f"SQLite {sqlite3.sqlite_version}, llama-cpp-python {llama_cpp.__version__}"
    )


def _data_dir(settings: Settings) -> Finding:
    path = settings.storage.data_dir
    try:
        with DataDir(path):
            pass
    except DataDirError as error:
        if "in use" in error.detail:
            return Finding("data directory", Verdict.FINE, error.detail.split(". ")[0])
        return Finding("data directory", Verdict.PROBLEM, error.detail, "Name another with --data-dir or VICW_DATA_DIR")
    return Finding("data directory", Verdict.FINE, f"{path} can be used")


def _room(settings: Settings) -> Finding:
    path = settings.storage.data_dir
    free = shutil.disk_usage(path if path.exists() else path.parent).free // 1048576
    if free < settings.storage.min_free_mb:
        return Finding("disk", Verdict.PROBLEM, f"{free} MiB free, writes are refused", "Make room")
    if free < _ROOMY_MB:
        return Finding("disk", Verdict.NOTE, f"{free} MiB free", "100,000 memories take about half a gigabyte")
    return Finding("disk", Verdict.FINE, f"{free} MiB free")


def _model(settings: Settings) -> Finding:
    embedding = settings.embedding
    if embedding.url is not None:
        try:
            answer = httpx.get(embedding.url.rstrip("/") + "/models", timeout=5)
        except httpx.HTTPError as error:
            fix = "Start that server, or unset VICW_EMBEDDING_URL to use our own process"
            return Finding("model", Verdict.PROBLEM, f"{embedding.url} does not answer: {error}", fix)
        return Finding("model", Verdict.FINE, f"{embedding.url} answers {answer.status_code}")
    card = MODELS.get(embedding.model)
    if card is not None and card.file is None:
        return Finding("model", Verdict.FINE, f"{card.name} comes with the installation")
    try:
        model = library.resolve(embedding, settings.models_dir)
    except VicwError as error:
        return Finding("model", Verdict.PROBLEM, error.detail, "vicw model list shows what can be used")
    return Finding("model", Verdict.FINE, f"{model.card.name} in {model.path}")


def _port(settings: Settings) -> Finding:
    host, port = settings.server.host, settings.server.port
    try:
        answer = httpx.get(f"http://{host}:{port}/readyz", timeout=2)
        return Finding("server", Verdict.FINE, f"something answers on {host}:{port}: {answer.text[:120]}")
    except httpx.HTTPError:
        pass
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            detail = f"{host}:{port} cannot be listened on: {error.strerror}"
            return Finding("server", Verdict.PROBLEM, detail, "Name another with --port or VICW_PORT")
    return Finding("server", Verdict.NOTE, f"not running on {host}:{port}", "Start it with `vicw serve`")
