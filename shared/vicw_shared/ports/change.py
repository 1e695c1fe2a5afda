"""Embedding model state of a store: the model in use, and a change of model in progress."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import datetime

from vicw_shared.ports.embedder import ModelIdentity

_OVER = "leaving"
"""Phase that an older program wrote for a change that was complete except for removing its record."""


@dataclass(frozen=True, slots=True)
class ModelChange:
    """A change to ``model`` while its index is being filled (docs/decisions/0009).

    Indexing pauses until ``held_until`` (microseconds since 1970), while the new index takes over. ``source`` is the
    value that the model setting needs for the new model, if that is not its name.
    """

    model: ModelIdentity
    source: str | None = None
    held_until: int = 0

    def dump(self) -> str:
        """Serialize to JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def load(cls, text: str | None) -> ModelChange | None:
        """Parse the output of ``dump``; return None if no change is in progress."""
        fields = json.loads(text or "{}")
        over = not fields or fields.get("phase") == _OVER
        held_until = fields.get("held_until", 0)
        return None if over else cls(ModelIdentity(**fields["model"]), fields["source"], held_until)


@dataclass(frozen=True, slots=True)
class Models:
    """The model ``used`` (None: no model is recorded yet) and the change in progress, if any.

    ``rebuilding`` marks a lost index: the time since when the index of the model in use is known to be incomplete.
    """

    used: ModelIdentity | None = None
    change: ModelChange | None = None
    rebuilding: datetime | None = None
