"""The types whose edges have indexes: those that are registered, and those that once were."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from vicw_shared.model import EdgeRegistry


@dataclass(frozen=True, slots=True)
class EdgeTypes:
    """``all`` is what the database may hold, in order; only what is in ``registry`` is asked for or written."""

    registry: EdgeRegistry
    all: tuple[str, ...]

    def known(self, types: Iterable[str]) -> tuple[str, ...]:
        """Return ``types``, each once. Raises UnknownTypeError for one that is not registered."""
        return tuple(self.registry.get(name).name for name in dict.fromkeys(types))
