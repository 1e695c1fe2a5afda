"""Where an index differs from the graph, which says of a page of passages how each of their points has to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from vicw_shared.payload import payload_of
from vicw_shared.ports import PendingKind, PendingPoint, VectorStore

_EMBEDDED = frozenset({"text", "domain", "subtype", "name"})
"""Fields of the payload that stand for what is embedded of a passage."""


@dataclass(frozen=True, slots=True)
class Differences:
    """What is to be done for the points of a page, and in which ``fields`` payloads differ, by the points' ids.

    ``absent`` passages have no point; that of the ``reworded`` was made of another text. Of ``stale`` points only the
    payload is to be rewritten, as it says. ``unwanted`` points stand for no item's passage.
    """

    absent: list[PendingPoint] = field(default_factory=list)
    reworded: list[PendingPoint] = field(default_factory=list)
    stale: dict[str, dict[str, object]] = field(default_factory=dict)
    unwanted: list[str] = field(default_factory=list)
    fields: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def lacking(self) -> list[PendingPoint]:
        """The passages to embed."""
        return [*self.absent, *self.reworded]

    @property
    def ids(self) -> set[str]:
        """The points of all of them."""
        return {*(point.point_id for point in self.lacking), *self.stale, *self.unwanted}


async def compare(page: Sequence[PendingPoint], vectors: VectorStore) -> Differences:
    """Return where an index differs from what the graph says of these passages."""
    stored = await vectors.payloads([point.point_id for point in page])
    found = Differences()
    for point in page:
        uid, payload = point.point_id, stored.get(point.point_id)
        if point.kind is PendingKind.DELETE:
            if payload is not None:
                found.unwanted.append(uid)
            continue
        if payload is None:
            found.absent.append(point)
            continue
        wanted = payload_of(point)
        names = payload.keys() | wanted.keys()
        differing = tuple(sorted(n for n in names if _unordered(payload.get(n)) != _unordered(wanted.get(n))))
        if differing:
            found.fields[uid] = differing
            if _EMBEDDED.isdisjoint(differing):
                found.stale[uid] = wanted
            else:
                found.reworded.append(point)
    return found


def _unordered(value: object) -> object:
    """Return a list in one order: edges come in none."""
    return sorted(value) if isinstance(value, list) else value
