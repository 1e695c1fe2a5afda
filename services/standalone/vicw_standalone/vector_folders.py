"""The folders of a data directory that hold vector indexes: one a model.

The first is ``vectors``; each further one is named after its model. Each has a note whose it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path

from vicw_shared.adapters.edge import EdgeVectorStore
from vicw_shared.errors import DataDirError
from vicw_shared.ports import ModelIdentity

FIRST = "vectors"
_NOTE = "model.json"
_NAMES = re.compile(rf"{FIRST}(-\d+-[0-9a-f]{{12}})?(\.new)?")


def folder_of(data_dir: Path, model: ModelIdentity, used: ModelIdentity | None) -> Path:
    """Return where the index of ``model`` is, or is to be, in a store that uses ``used``."""
    own, first = data_dir / f"{FIRST}-{model.key}", data_dir / FIRST
    if EdgeVectorStore.exists(own):
        return own
    noted = noted_in(first)
    # One without a note is from before there were any others, or lost.
    return first if noted == model or (noted is None and model == used) else own


def open_folder(folder: Path, model: ModelIdentity, *, anew: bool) -> EdgeVectorStore:
    """Open a model's index; one that cannot be opened is made ``anew``, or raises DataDirError."""
    try:
        store = EdgeVectorStore(folder, model.size)
    except DataDirError:
        if not anew:
            raise
        EdgeVectorStore.destroy(folder)
        store = EdgeVectorStore(folder, model.size)
    if noted_in(folder) != model:
        (folder / _NOTE).write_text(json.dumps(asdict(model)), "utf-8")
    return store


def others(data_dir: Path, kept: Collection[Path]) -> list[Path]:
    """Return the folders of indexes that are not among ``kept``."""
    found = (path for path in data_dir.iterdir() if path.is_dir() and _NAMES.fullmatch(path.name))
    return sorted(path for path in found if path not in kept)


def noted_in(folder: Path) -> ModelIdentity | None:
    """Return whose index a folder is; None if it has no note."""
    try:
        return ModelIdentity(**json.loads((folder / _NOTE).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None
