"""The shards of an index, in its folder.

Each is made when its first point comes: an empty one takes more than 100 MB of disk, eight threads and .1 CPU seconds.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from vicw_shared.model import Label
from vicw_stores.edge.shard import Shard

FOLDERS = {Label.CHUNK: "passages", Label.EVENT: "statements"}
"""Folder of each label's shard in an index."""
LIST = "shards.json"
"""The file that names the shards there are: one that is missing is lost, one that is not named is incomplete."""


class Shards:
    """The open shards of the index at ``path``, for vectors of ``size`` dimensions."""

    def __init__(self, path: Path, size: int) -> None:
        """Open what ``create`` made."""
        self._path, self._size = path, size
        self._open: dict[Label, Shard] = {}
        self.open()

    def open(self) -> None:
        """Open the shards that there are."""
        listed, opened = _listed(self._path), dict[Label, Shard]()
        with ExitStack() as stack:  # if one cannot be opened, none stays open
            for label, name in FOLDERS.items():
                if name in listed:
                    opened[label] = Shard.open(self._path / name)
                    stack.callback(opened[label].close)
                else:
                    shutil.rmtree(self._path / name, ignore_errors=True)  # a kill while it was made leaves one unlisted
            stack.pop_all()
        self._open = opened

    @staticmethod
    def exist(path: Path) -> bool:
        """Return whether there is an index at ``path`` with all shards that it lists."""
        return all(Shard.exists(path / name) for name in _listed(path))

    @staticmethod
    def create(path: Path) -> None:
        """Create an index without shards in a new folder."""
        path.mkdir(mode=0o700, parents=True)
        (path / LIST).write_text("[]", "utf-8")

    def __iter__(self) -> Iterator[Shard]:
        return iter(list(self._open.values()))

    def get(self, label: Label) -> Shard | None:
        """Return the shard of a label; None if no point of it was ever stored."""
        return self._open.get(label)

    def made(self, label: Label) -> Shard:
        """Return the shard of a label, after creating it if there is none."""
        if (shard := self._open.get(label)) is None:
            path = self._path / FOLDERS[label]
            shutil.rmtree(path, ignore_errors=True)  # what is left if that failed before
            shard = self._open[label] = Shard.create(path, self._size)
            names = [name for one, name in FOLDERS.items() if one in self._open]
            aside = self._path / f"{LIST}.new"
            aside.write_text(json.dumps(names), "utf-8")
            aside.replace(self._path / LIST)
        return shard

    def close(self) -> None:
        """Close all shards, which ``open`` opens again."""
        with ExitStack() as stack:
            while self._open:
                stack.callback(self._open.popitem()[1].close)


def _listed(path: Path) -> list[str]:
    """Return the names of the shards of an index; of one without a readable list, all there can be."""
    try:
        names = json.loads((path / LIST).read_text("utf-8"))
    except (OSError, ValueError):
        names = None
    return [name for name in FOLDERS.values() if names is None or name in names]
