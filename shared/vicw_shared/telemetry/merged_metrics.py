"""What a worker's processes have counted, when they are gone: added up in one file of each type.

Prometheus' client has a file of a process and type, which it never removes and reads at every scrape.
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
    """Fold the files of dead processes, killed ones perhaps, and hold the directory: no other folds meanwhile."""
    with (directory / "folding").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            _merge(directory)
            yield
        finally:
            fcntl.flock(lock, fcntl.LOCK_UN)  # a process forked meanwhile has it open, too


def _merge(directory: Path) -> None:
    for file in directory.glob("*.db"):
        kind, _, pid = file.stem.rpartition("_")
        if pid == _ENDED or _lives(int(pid)):
            continue
        if not kind.startswith("gauge"):  # those are of the living
            _add(file, directory / f"{kind}_{_ENDED}.db")
        file.unlink()


def _add(file: Path, sums: Path) -> None:
    if not file.stat().st_size:
        return  # killed before it had counted anything
    total = MmapedDict(str(sums))  # type: ignore[no-untyped-call]
    try:
        for key, value, _, _ in MmapedDict.read_all_values_from_file(file):  # type: ignore[no-untyped-call]
            before, _ = total.read_value(key)  # type: ignore[no-untyped-call]
            total.write_value(key, before + value, 0.0)  # type: ignore[no-untyped-call]
    finally:
        total.close()  # type: ignore[no-untyped-call]


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
