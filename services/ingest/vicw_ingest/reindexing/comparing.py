"""What an index lacks of a page of passages: the graph says how each of its points has to be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vicw_shared.payload import payload_of
from vicw_shared.ports import PendingKind, PendingPoint, VectorStore

_EMBEDDED = ("text", "domain", "subtype", "name")
"""Fields of the payload that stand for what is embedded of a passage."""


@dataclass(frozen=True, slots=True)
class Differences:
    """Passages to embed, payloads to rewrite by the points' ids, and points that stand for no item's passage."""

    lacking: list[PendingPoint] = field(default_factory=list)
    stale: dict[str, dict[str, object]] = field(default_factory=dict)
    unwanted: list[str] = field(default_factory=list)

    @property
    def ids(self) -> set[str]:
        """The points of all of them."""
        return {*(point.point_id for point in self.lacking), *self.stale, *self.unwanted}


async def compare(page: Sequence[PendingPoint], vectors: VectorStore) -> Differences:
    """Return where an index differs from what the graph says of these passages."""
    stored = await vectors.payloads([point.point_id for point in page])
    found = Differences()
    for point in page:
        payload = stored.get(point.point_id)
        if point.kind is PendingKind.DELETE:
            if payload is not None:
                found.unwanted.append(point.point_id)
            continue
        wanted = payload_of(point)
        if payload is None or any(payload.get(name) != wanted.get(name) for name in _EMBEDDED):
            found.lacking.append(point)
        elif _unordered(payload) != _unordered(wanted):
            found.stale[point.point_id] = wanted
    return found


def _unordered(payload: Mapping[str, object]) -> dict[str, object]:
    """Return a payload whose lists are in one order: edges come in none."""
    return {name: sorted(value) if isinstance(value, list) else value for name, value in payload.items()}
