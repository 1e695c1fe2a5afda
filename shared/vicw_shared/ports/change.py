"""What a store knows of the model in use, and of a change to another one that is under way."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import datetime

from vicw_shared.ports.embedder import ModelIdentity

_OVER = "leaving"
"""What an older program has written of a change that was over but for its note."""


@dataclass(frozen=True, slots=True)
class ModelChange:
    """A change to ``model``, whose index is being filled (docs/decisions/0009).

    Until ``held_until``, in microseconds since 1970, nothing is indexed: the index is about to take over.
    ``source`` is what the setting of the model has to say for the new one, where that is not its name.
    """

    model: ModelIdentity
    source: str | None = None
    held_until: int = 0

    def dump(self) -> str:
        """Return it as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def load(cls, text: str | None) -> ModelChange | None:
        """Undo ``dump``; None: no change is under way."""
        fields = json.loads(text or "{}")
        over = not fields or fields.get("phase") == _OVER
        held_until = fields.get("held_until", 0)
        return None if over else cls(ModelIdentity(**fields["model"]), fields["source"], held_until)


@dataclass(frozen=True, slots=True)
class Models:
    """The model ``used`` (None: nothing is stored yet), and the change of it that is under way, if one is.

    ``rebuilding`` is the mark of a lost index: since when that of the model in use is known to lack what the graph has.
    """

    used: ModelIdentity | None = None
    change: ModelChange | None = None
    rebuilding: datetime | None = None
