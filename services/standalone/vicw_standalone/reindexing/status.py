"""What can be told of a store's indexes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from vicw_shared.ports import ChangePhase, ModelIdentity, Models

_PHASES = {
    ChangePhase.BUILDING: "is being filled",
    ChangePhase.JOINING: "is written together with the one in use, and about to take its place",
    ChangePhase.LEAVING: "was in use a moment ago, and is written still",
}


@dataclass(frozen=True, slots=True)
class Status:
    """The models of a store, its ``passages``, and about how many ``points`` each index has (None: not known)."""

    models: Models
    passages: int
    points: Mapping[ModelIdentity, int | None] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        """Say it."""
        change = self.models.change
        yield f"{self.passages} passages"
        for model, points in self.points.items():
            said = "is in use" if model == self.models.used else "is kept; --drop-old removes it"
            if change is not None and model == change.model:
                said = _PHASES[change.phase]
            yield f"{model} {said}" + (f": {points} points" if points is not None else "")
        if self.models.rebuilding is not None:
            yield f"The index in use was lost and is being rebuilt since {self.models.rebuilding:%Y-%m-%d %H:%M} UTC"
        if change is not None:
            yield "A change of the model is not over. If no `vicw reindex` is at work on it, run it again: it goes on"


def known(models: Models, noted: Iterable[ModelIdentity | None]) -> dict[ModelIdentity, int | None]:
    """Return the models of folders, the one in use first: its folder has no note if it is old."""
    return {model: None for model in (models.used, *noted) if model is not None}
