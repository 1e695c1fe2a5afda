"""Differences between a vector index and the graph, for one page of passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vicw_shared.model.core5 import LIGHT
from vicw_shared.payload import payload_of
from vicw_shared.ports import PendingKind, PendingPoint, VectorStore

_EMBEDDED = frozenset({"text", "domain", "subtype", "name", LIGHT})
"""Payload fields that determine the embedded text of a passage."""


@dataclass(frozen=True, slots=True)
class Differences:
    """Repairs needed by the points of a page, and the payload ``fields`` that differ, by passage uid.

    ``absent`` passages lack a point, their own or a statement's. A point of a ``reworded`` passage was embedded from
    another text. ``stale`` passages need new payloads only, given by point id. ``unwanted`` points belong to Chunks
    that prove no item.
    """

    absent: list[PendingPoint] = field(default_factory=list)
    reworded: list[PendingPoint] = field(default_factory=list)
    stale: dict[str, dict[str, dict[str, object]]] = field(default_factory=dict)
    unwanted: list[str] = field(default_factory=list)
    fields: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def lacking(self) -> list[PendingPoint]:
        """The passages to embed."""
        return [*self.absent, *self.reworded]

    @property
    def ids(self) -> set[str]:
        """Uids of all passages that differ."""
        return {*(point.point_id for point in self.lacking), *self.stale, *self.unwanted}


async def compare(page: Sequence[PendingPoint], vectors: VectorStore) -> Differences:
    """Compare an index with the graph's state of these passages."""
    stored = await vectors.payloads([part.point_id for point in page for part in point.parts])
    found = Differences()
    for point in page:
        _compare(point, stored, found)
    return found


def _compare(point: PendingPoint, stored: Mapping[str, Mapping[str, object]], found: Differences) -> None:
    """Record the most expensive repair that a passage's points need, if any."""
    uid = point.point_id
    if point.kind is PendingKind.DELETE:
        if uid in stored:
            found.unwanted.append(uid)
        return
    wanted = {part.point_id: payload_of(part) for part in point.parts}
    if not wanted.keys() <= stored.keys():
        found.absent.append(point)
        return
    differing = {part: _differing(stored[part], payload) for part, payload in wanted.items()}
    fields = tuple(sorted(set().union(*differing.values())))
    if fields:
        found.fields[uid] = fields
        if _EMBEDDED.isdisjoint(fields):
            found.stale[uid] = {part: wanted[part] for part, names in differing.items() if names}
        else:
            found.reworded.append(point)


def _differing(payload: Mapping[str, object], wanted: Mapping[str, object]) -> set[str]:
    names = payload.keys() | wanted.keys()
    return {name for name in names if _unordered(payload.get(name)) != _unordered(wanted.get(name))}


def _unordered(value: object) -> object:
    """Return a list sorted, since edges are read in no particular order."""
    return sorted(value) if isinstance(value, list) else value
