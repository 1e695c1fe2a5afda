"""Compaction: rewrites an index, since the engine keeps deleted data in its log and files for an unbounded time.

The copy contains no deleted data. Vectors are copied as stored: repeated copies stay the same to the eighth digit.
"""

from __future__ import annotations

import shutil
from itertools import batched
from pathlib import Path

from vicw_shared.adapters.edge.shard import Shard
from vicw_shared.adapters.edge.store import FOLDERS

_PART = 64
_PAGE = 500


def rewrite(path: Path, size: int) -> None:
    """Rewrite the index at ``path``, for vectors of ``size`` dimensions. No process may have it open.

    If the process dies midway, the old index remains, at ``path`` or beside it, for ``recover``.
    """
    fresh, old = _work_paths(path)
    for name in FOLDERS.values():
        _copy(path / name, fresh / name, size)
    for file in path.iterdir():
        if file.is_file():
            shutil.copy2(file, fresh / file.name)
    path.rename(old)
    fresh.rename(path)
    shutil.rmtree(old)


def recover(path: Path) -> None:
    """Clean up after a process died in ``rewrite``: restore the old index if ``path`` is missing, remove leftovers."""
    fresh, old = _work_paths(path)
    if old.exists() and not path.exists():
        old.rename(path)
    for folder in (fresh, old):
        shutil.rmtree(folder, ignore_errors=True)


def _work_paths(path: Path) -> tuple[Path, Path]:
    return path.with_name(f"{path.name}.rewritten"), path.with_name(f"{path.name}.old")


def _copy(source: Path, target: Path, size: int) -> None:
    Shard.create(target, size)
    before, after = Shard(source), Shard(target)
    try:
        last: str | None = None
        while ids := before.ids(last, _PAGE):
            last = ids[-1]
            for part in batched(ids, _PART):
                after.upsert(before.points(part))
    finally:
        before.close()
        after.close()
