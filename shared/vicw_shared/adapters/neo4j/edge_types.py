"""Edge types with indexes: registered ones, and formerly registered ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from vicw_shared.model import EdgeRegistry


@dataclass(frozen=True, slots=True)
class EdgeTypes:
    """Edge types: ``all`` that the database may hold, sorted, for queries; ``registry`` of those to be written."""

    registry: EdgeRegistry
    all: tuple[str, ...]

    def stored(self, types: Iterable[str]) -> tuple[str, ...]:
        """Return the ``types`` that the database may hold, each once."""
        return tuple(name for name in dict.fromkeys(types) if name in self.all)
