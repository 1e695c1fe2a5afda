"""Embedder port: turns text into vectors."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Lane(StrEnum):
    """Queue that a call joins. Queries never wait behind bulk ingestion."""

    QUERY = "query"
    BULK = "bulk"


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Identity of the embedding model that filled a store.

    ``size`` is the number of dimensions kept. ``digest`` is the SHA-256 of the weights file, or of the server's model
    name if the weights file is not local. ``wrapper_version`` is the version of the contextual wrapper.
    """

    name: str
    size: int
    digest: str
    wrapper_version: int

    @property
    def has_vectors(self) -> bool:
        """Return whether this is a real model; false for ``NO_MODEL``."""
        return self.size > 0

    @property
    def key(self) -> str:
        """Suffix of this model's index names; unique per model and wrapper version."""
        identity = json.dumps(asdict(self), sort_keys=True)
        return f"{self.size}-{hashlib.sha256(identity.encode()).hexdigest()[:12]}"

    def __str__(self) -> str:
        if not self.has_vectors:
            return "no model"
        file = f"file {self.digest[:12]}, " if self.digest else ""
        return f"{self.name} ({self.size}-d, {file}wrapper {self.wrapper_version})"


NO_MODEL = ModelIdentity("none", 0, "", 0)
"""Model identity of a store without vectors (VICW_EMBEDDER=none)."""


class Embedder(Protocol):
    """Embedding model: turns wrapped texts into unit vectors."""

    async def identity(self) -> ModelIdentity:
        """Return the identity of the model. Raises UnavailableError."""
        ...

    async def embed(self, texts: Sequence[str], lane: Lane) -> NDArray[np.float32]:
        """Return an array of shape (len(texts), size), float32, each row of L2 norm 1.

        Row i belongs to text i; no texts give shape (0, size). A text over the model's limit is embedded in windows,
        averaged and renormalised. Raises UnavailableError when the model cannot be reached.
        """
        ...

    async def close(self) -> None:
        """Release connections. Safe to call twice."""
        ...


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
    ``converting``: the words of some passages are those of an earlier version (``StoredWords``).
    """

    used: ModelIdentity | None = None
    change: ModelChange | None = None
    rebuilding: datetime | None = None
    converting: bool = False
