"""A copy of an index that takes its place, so that no file has deleted data, while the index answers."""

from __future__ import annotations

import shutil
from itertools import batched
from pathlib import Path

from vicw_shared.model import Label
from vicw_stores.edge.shards import FOLDERS, LIST, Shards

PART = 64
"""Points of one update."""


class IndexCopy:
    """A copy beside the index at ``path``, for vectors of ``size`` dimensions, made in the thread of the open index.

    ``changed`` points are copied again at the end.
    """

    def __init__(self, path: Path, size: int) -> None:
        self._path, self._size = path, size
        self._fresh, self._old = _work_paths(path)
        self._shards: Shards | None = None
        self._last: dict[Label, str] = {}
        self.changed: set[str] = set()

    def create(self) -> None:
        """Begin with an empty copy."""
        recover(self._path)
        Shards.create(self._fresh)
        self._shards = Shards(self._fresh, self._size)

    def copy_part(self, shards: Shards) -> bool:
        """Copy the next points; return whether there may be more."""
        assert self._shards is not None
        for label in FOLDERS:
            shard = shards.get(label)
            if shard is not None and (ids := shard.ids(self._last.get(label), PART)):
                self._last[label] = ids[-1]
                self._shards.made(label).upsert(shard.points(ids))
                return True
        return False

    def complete(self, shards: Shards) -> None:
        """Copy what has changed meanwhile."""
        assert self._shards is not None
        for part in batched(sorted(self.changed), PART):
            for copied in self._shards:
                copied.delete(part)
            for label in FOLDERS:
                shard = shards.get(label)
                if shard is not None and (points := shard.points(part)):
                    self._shards.made(label).upsert(points)

    def swap(self) -> None:
        """Move the copy to the path of the index, which must be closed."""
        self._close()
        for file in self._path.iterdir():
            if file.is_file() and file.name != LIST:  # the copy may have fewer shards
                shutil.copy2(file, self._fresh / file.name)
        self._path.rename(self._old)
        try:
            self._fresh.rename(self._path)
        except OSError:
            self._old.rename(self._path)
            raise
        shutil.rmtree(self._old)

    def discard(self) -> None:
        """Remove what is left of the copy, or of the old index."""
        self._close()
        recover(self._path)

    def _close(self) -> None:
        if self._shards is not None:
            self._shards.close()
            self._shards = None


def recover(path: Path) -> None:
    """Clean up after a process died in a rewriting: restore the old index if ``path`` is missing, remove leftovers."""
    fresh, old = _work_paths(path)
    if old.exists() and not path.exists():
        old.rename(path)
    for folder in (fresh, old):
        shutil.rmtree(folder, ignore_errors=True)


def recover_all(data_dir: Path) -> None:
    """Clean up beside all indexes of a folder. No process may have it open."""
    leftovers = [path for path in data_dir.iterdir() if path.is_dir() and path.suffix in {".old", ".rewritten"}]
    for folder in sorted({path.with_suffix("") for path in leftovers}):
        recover(folder)


def _work_paths(path: Path) -> tuple[Path, Path]:
    return path.with_name(f"{path.name}.rewritten"), path.with_name(f"{path.name}.old")
