"""Merge the metric files of ended worker processes into one file per type.

Prometheus' client writes a file per process and type, never removes one, and reads all of them at every scrape.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from prometheus_client.mmap_dict import MmapedDict

_ENDED = "ended"


@contextlib.contextmanager
def merged(directory: Path) -> Iterator[None]:
    """Merge the files of ended processes, killed ones included, and lock the directory against concurrent merges."""
    with (directory / "folding").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            _merge(directory)
            yield
        finally:
            fcntl.flock(lock, fcntl.LOCK_UN)  # closing does not suffice: a process forked meanwhile has it open, too


def _merge(directory: Path) -> None:
    for file in directory.glob("*.db"):
        kind, _, pid = file.stem.rpartition("_")
        if pid == _ENDED or _is_running(int(pid)):
            continue
        if not kind.startswith("gauge"):  # gauges are of running processes only
            _add(file, directory / f"{kind}_{_ENDED}.db")
        file.unlink()


def _add(file: Path, sums: Path) -> None:
    if not file.stat().st_size:
        return  # the process was killed before it counted anything
    total = MmapedDict(str(sums))  # type: ignore[no-untyped-call]
    try:
        for key, value, _, _ in MmapedDict.read_all_values_from_file(file):  # type: ignore[no-untyped-call]
            before, _ = total.read_value(key)  # type: ignore[no-untyped-call]
            total.write_value(key, before + value, 0.0)  # type: ignore[no-untyped-call]
    finally:
        total.close()  # type: ignore[no-untyped-call]


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
