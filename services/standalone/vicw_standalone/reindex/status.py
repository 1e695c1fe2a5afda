"""What can be told of a store's indexes, and the removal of those of a data directory that are not in use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from vicw_shared.adapters.edge import EdgeVectorStore
from vicw_shared.adapters.sqlite import SqliteGraphStore
from vicw_shared.errors import StateConflictError
from vicw_shared.model import Label
from vicw_shared.ports import ModelIdentity, Models
from vicw_standalone.counts import counted
from vicw_standalone.vector_folders import folder_of, noted_in, others


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """The models of a store, its ``passages``, and about how many ``points`` each index has (None: not known)."""

    models: Models
    passages: int
    points: Mapping[ModelIdentity, int | None] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        """Say it."""
        change = self.models.change
        yield counted(self.passages, "passage")
        for model, points in self.points.items():
            said = "is in use" if model == self.models.used else "is kept; --drop-old removes it"
            if change is not None and model == change.model:
                said = "is being filled"
            yield f"{model} {said}" + (f": {counted(points, 'point')}" if points is not None else "")
        if self.models.rebuilding is not None:
            yield f"The index in use was lost and is being rebuilt since {self.models.rebuilding:%Y-%m-%d %H:%M} UTC"
        if change is not None:
            yield "A change of the model is not over. If no `vicw reindex` is at work on it, run it again: it goes on"


async def status_of(graph: SqliteGraphStore, data_dir: Path) -> IndexStatus:
    """Return which index of a data directory is in use, and how far a change is."""
    models = await graph.record.models()
    # The one in use first: its folder has no note if it is old.
    known = (models.used, *map(noted_in, others(data_dir, ())))
    return IndexStatus(
        models, await graph.audit.count(Label.CHUNK), {model: None for model in known if model is not None}
    )


async def drop_others(graph: SqliteGraphStore, data_dir: Path) -> list[ModelIdentity]:
    """Remove the indexes that are not in use; return their models. Raises ConflictError before a change is over."""
    models = await graph.record.models()
    if models.change is not None or models.used is None:
        raise StateConflictError("A change of the model is not over yet: `vicw reindex` goes on with it")
    folders = others(data_dir, {folder_of(data_dir, models.used, models.used)})
    dropped = [noted_in(folder) for folder in folders]
    for folder in folders:
        EdgeVectorStore.destroy(folder)
    return [model for model in dropped if model is not None]
