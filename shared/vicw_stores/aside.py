"""Moves the stores of a data directory aside, for others to take their place."""

from __future__ import annotations

from itertools import chain, count
from pathlib import Path

from vicw_stores.data_dir import DataDir
from vicw_stores.sqlite import GRAPH

_VECTORS = "vectors"


def move_aside(data_dir: Path, name: str) -> Path | None:
    """Move the graph and the indexes of a data directory into a new folder inside it; return the folder.

    None: there is no graph. Raises DataDirInUseError while another process has the directory open.
    """
    if not (data_dir / GRAPH).exists():
        return None
    with DataDir(data_dir):
        names = chain([name], (f"{name}-{number}" for number in count(2)))
        aside = next(data_dir / candidate for candidate in names if not (data_dir / candidate).exists())
        aside.mkdir(mode=0o700)
        # The graph is moved last: without its indexes it gets new ones, but another graph must not find these.
        for path in sorted(data_dir.iterdir(), reverse=True):
            if path.name.startswith((GRAPH, _VECTORS)):
                path.rename(aside / path.name)
        return aside
