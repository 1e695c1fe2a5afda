"""What a store knows of the model in use, and of a change to another one that is under way."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum

from vicw_shared.ports.embedder import ModelIdentity


class ChangePhase(StrEnum):
    """How far a change of the model is (docs/decisions/0009)."""

    BUILDING = "building"
    """The other index is being filled, by whoever changes the model alone."""
    JOINING = "joining"
    """Whoever writes vectors writes to both; the other index is the one to come."""
    LEAVING = "leaving"
    """Whoever writes vectors writes to both; the other index is the one that was in use, and may still be read."""


@dataclass(frozen=True, slots=True)
class ModelChange:
    """A change of the model: the ``model`` of the other index, and the phase.

    ``source`` is what the setting of the model has to say for the new one, where that is not its name.
    """

    model: ModelIdentity
    phase: ChangePhase
    source: str | None = None

    def dump(self) -> str:
        """Return it as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def load(cls, text: str) -> ModelChange:
        """Undo ``dump``."""
        fields = json.loads(text)
        return cls(ModelIdentity(**fields["model"]), ChangePhase(fields["phase"]), fields["source"])


@dataclass(frozen=True, slots=True)
class Models:
    """The model ``used`` (None: nothing is stored yet), and the change of it that is under way, if one is.

    ``rebuilding`` is the mark of a lost index: since when that of the model in use is known to lack what the graph has.
    """

    used: ModelIdentity | None = None
    change: ModelChange | None = None
    rebuilding: datetime | None = None

    @property
    def written(self) -> tuple[ModelIdentity, ...]:
        """The models whose indexes have to have what is acknowledged."""
        if self.used is None:
            return ()
        if self.change is None or self.change.phase is ChangePhase.BUILDING:
            return (self.used,)
        return (self.used, self.change.model)
