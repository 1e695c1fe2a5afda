"""Folders of the vector indexes in a data directory, one per model.

The first is ``vectors``; each further one is named after its model. A file in each folder records its model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path

from vicw_shared.errors import DataDirError
from vicw_shared.ports import ModelIdentity
from vicw_stores.edge.store import EdgeVectorStore

FIRST = "vectors"
_NOTE = "model.json"
_NAMES = re.compile(rf"{FIRST}(-\d+-[0-9a-f]{{12}})?(\.new)?")


def folder_of(data_dir: Path, model: ModelIdentity, used: ModelIdentity | None) -> Path:
    """Return the folder of the index of ``model``, existing or not, in a store that uses ``used``."""
    own, first = data_dir / f"{FIRST}-{model.key}", data_dir / FIRST
    if EdgeVectorStore.exists(own):
        return own
    recorded = noted_in(first)
    # A folder without a record is older than the records, or lost it.
    return first if recorded == model or (recorded is None and model == used) else own


def open_folder(folder: Path, model: ModelIdentity, *, anew: bool) -> EdgeVectorStore:
    """Open a model's index. An unreadable one is replaced if ``anew``, else DataDirError is raised."""
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
    """Return the index folders that are not among ``kept``."""
    folders = (path for path in data_dir.iterdir() if path.is_dir() and _NAMES.fullmatch(path.name))
    return sorted(path for path in folders if path not in kept)


def noted_in(folder: Path) -> ModelIdentity | None:
    """Return the model recorded in an index folder; None if there is no record."""
    try:
        return ModelIdentity(**json.loads((folder / _NOTE).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None
