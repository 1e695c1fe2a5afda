"""Checks of the machine: processor, memory, engines, extractor, disk space, port."""

from __future__ import annotations

import os
import platform
import shutil
import socket
import sqlite3
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import httpx

from vicw_shared.errors import SettingsError
from vicw_shared.extensions import NO_EXTRACTOR, NOTHING_EXTRACTED, find_extractor, load_extractor
from vicw_shared.text import counted
from vicw_shared.wire.host_names import is_loopback
from vicw_standalone.doctor.findings import Finding, Severity
from vicw_standalone.settings import StandaloneSettings
from vicw_stores.data_dir import DataDir

_MIN_MEMORY_MB = 512
_MIN_MEMORY_WITHOUT_VECTORS_MB = 256
_ROOMY_MB = 1024


def processor(settings: StandaloneSettings) -> Finding:
    """Check for the processor instructions that llama.cpp is built with, if it may run."""
    cores = os.cpu_count() or 1
    machine = platform.machine()
    try:
        flags = Path("/proc/cpuinfo").read_text()
    except OSError:
        flags = "avx2"
    is_usable = find_spec("llama_cpp") is not None and settings.storage.embedder != "none"
    if machine == "x86_64" and "avx2" not in flags and is_usable:
        fix = "Use an ONNX model, or: CMAKE_ARGS='-DGGML_AVX2=OFF -DGGML_FMA=OFF -DGGML_F16C=OFF' make clean dev"
        return Finding("processor", Severity.NOTE, "no AVX2: the embedding process would crash on a GGUF model", fix)
    return Finding("processor", Severity.FINE, f"{machine}, {counted(cores, 'core')}")


def memory(settings: StandaloneSettings) -> Finding:
    """Check the available memory."""
    try:
        lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        available = int(lines["MemAvailable"].split()[0]) // 1024
    except (OSError, KeyError, ValueError):
        return Finding("memory", Severity.NOTE, "cannot be read on this system")
    least = _MIN_MEMORY_WITHOUT_VECTORS_MB if settings.storage.embedder == "none" else _MIN_MEMORY_MB
    if available < least:
        return Finding("memory", Severity.PROBLEM, f"{available} MiB available", f"Free at least {least} MiB")
    return Finding("memory", Severity.FINE, f"{available} MiB available")


def engines(settings: StandaloneSettings) -> Finding:
    """Check the libraries: SQLite with FTS5, and what runs embedding models."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE t USING fts5 (x)")
    except sqlite3.OperationalError:
        return Finding("engines", Severity.PROBLEM, "SQLite has no FTS5", "Use a Python whose SQLite has it")
    finally:
        connection.close()
    versions = f"SQLite {sqlite3.sqlite_version}"
    if settings.storage.embedder != "none":
        for package in ("onnxruntime", "llama-cpp-python"):  # one by one: each is enough
            with suppress(PackageNotFoundError):
                versions += f", {package} {version(package)}"
    return Finding("engines", Severity.FINE, versions)


def extractor(settings: StandaloneSettings) -> Finding:
    """Check the extractor that reads the texts."""
    name = settings.ingest.extractor
    try:
        entry = find_extractor(name)
        load_extractor(name)
    except SettingsError as error:
        return Finding("extractor", Severity.PROBLEM, error.detail, "`pip list` shows what is installed")
    if entry is not None:
        return Finding("extractor", Severity.FINE, f"{entry.name} ({entry.value})")
    if name == NO_EXTRACTOR:
        return Finding("extractor", Severity.FINE, NOTHING_EXTRACTED)
    return Finding("extractor", Severity.NOTE, NOTHING_EXTRACTED, "Install `vicw` again: it brings the one for English")


def room(settings: StandaloneSettings) -> Finding:
    """Check the free space of the data directory's file system."""
    path = settings.storage.data_dir
    free = shutil.disk_usage(next(p for p in (path, *path.parents) if p.exists())).free // 1048576
    if free < settings.storage.min_free_mb:
        fix = f"Free some space; VICW_MIN_FREE_MB requires {settings.storage.min_free_mb} MiB"
        return Finding("disk", Severity.PROBLEM, f"{free} MiB free, writes are refused", fix)
    if free < _ROOMY_MB:
        return Finding("disk", Severity.NOTE, f"{free} MiB free", "100,000 memories take about half a gigabyte")
    return Finding("disk", Severity.FINE, f"{free} MiB free")


def server(settings: StandaloneSettings) -> Finding:
    """Check the server that has the data directory open; else what listens on the port, or whether the port is free."""
    if (running := DataDir.read_address(settings.storage.data_dir)) is not None:
        return _running(running)
    host, port = settings.server.host, settings.server.port
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    another = "Choose another with --port or VICW_PORT"
    try:
        return _listener(address, _ask(f"http://{address}"), another)
    except httpx.HTTPError:
        pass  # nothing listens, or it does not speak HTTP
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            detail = f"cannot listen on {address}: {error.strerror}"
            return Finding("server", Severity.PROBLEM, detail, another)
    return Finding("server", Severity.NOTE, f"not running on {address}", "Start it with `vicw serve`")


def names(settings: StandaloneSettings) -> Finding:
    """Check which names the server answers to."""
    server = settings.server
    if is_loopback(server.host) or server.allowed_hosts:
        return Finding("names", Severity.FINE, "the server answers to its own names")
    fix = "List the names by which clients call it in VICW_ALLOWED_HOSTS"
    return Finding("names", Severity.NOTE, f"a server on {server.host} answers to any name", fix)


def _running(url: str) -> Finding:
    address = url.removeprefix("http://")
    try:
        return _listener(address, _ask(url), "Stop the process that holds the data directory")
    except httpx.HTTPError:
        detail = f"the one that has the data directory open does not answer on {address}"
        return Finding("server", Severity.PROBLEM, detail, "See its log")


def _ask(url: str) -> httpx.Response:
    return httpx.get(f"{url}/readyz", timeout=2, trust_env=False)


def _listener(address: str, answer: httpx.Response, another: str) -> Finding:
    try:
        status = answer.json()["status"]
    except (ValueError, KeyError, TypeError):
        status = None
    if status == "ready":
        return Finding("server", Severity.FINE, f"VICW is ready on {address}")
    if status == "not ready":
        return Finding("server", Severity.PROBLEM, f"VICW on {address} says {answer.text[:200]}", "See its log")
    return Finding("server", Severity.PROBLEM, f"something that is not VICW answers on {address}", another)
