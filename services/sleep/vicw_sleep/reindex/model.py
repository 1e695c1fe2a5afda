"""Result, progress and status of a change of the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from vicw_shared.ports import ModelIdentity, Models
from vicw_shared.text import counted


@dataclass(frozen=True, slots=True)
class ReindexReport:
    """Result of a run: ``embedded`` passages of all ``passages`` in the store.

    ``before`` is the model that was in use; None if it still is.
    """

    model: ModelIdentity
    before: ModelIdentity | None
    embedded: int
    passages: int


@dataclass(frozen=True, slots=True)
class ReindexProgress:
    """State of the last run: ``done`` of ``total`` passages in ``phase``."""

    running: bool = False
    phase: str = ""
    done: int = 0
    total: int = 0
    result: ReindexReport | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """The models of a store, its ``passages``, and about how many ``points`` each index has (None: not known)."""

    models: Models
    passages: int
    points: Mapping[ModelIdentity, int | None] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        """Yield the lines that `vicw reindex --status` prints."""
        change = self.models.change
        yield f"{counted(self.passages, 'passage')} in the store"
        for model, points in self.points.items():
            state = "is in use" if model == self.models.used else "is kept; --drop-old removes it"
            if change is not None and model == change.model:
                state = "is being filled"
            yield f"{model} {state}" + (f": {counted(points, 'point')}" if points is not None else "")
        if self.models.rebuilding is not None:
            yield f"The index in use was lost and is being rebuilt since {self.models.rebuilding:%Y-%m-%d %H:%M} UTC"
        if change is not None:
            yield "A model change is in progress. If no `vicw reindex` runs, run it again to resume"
