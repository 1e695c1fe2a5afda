"""Status of a store's vector indexes, for `vicw reindex --status`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from vicw_shared.ports import ModelIdentity, Models
from vicw_standalone.counts import counted


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """The models of a store, its ``passages``, and about how many ``points`` each index has (None: not known).

    It needs no engine: an installation without the embedded stores prints it for the services' stores.
    """

    models: Models
    passages: int
    points: Mapping[ModelIdentity, int | None] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        """Yield the lines that the command prints."""
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
