"""Differences between a vector index and the graph, for one page of passages."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vicw_core.index.points import payload_of
from vicw_shared.model.core5 import LIGHT
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
    def to_embed(self) -> list[PendingPoint]:
        """The passages to embed."""
        return [*self.absent, *self.reworded]

    @property
    def ids(self) -> set[str]:
        """Uids of all passages that differ."""
        return {*(point.point_id for point in self.to_embed), *self.stale, *self.unwanted}


async def compare(page: Sequence[PendingPoint], vectors: VectorStore) -> Differences:
    """Compare an index with the graph's state of these passages."""
    stored = await vectors.payloads([part.point_id for point in page for part in point.parts])
    differences = Differences()
    for point in page:
        _compare(point, stored, differences)
    return differences


def _compare(point: PendingPoint, stored: Mapping[str, Mapping[str, object]], differences: Differences) -> None:
    """Record the most expensive repair that a passage's points need, if any."""
    uid = point.point_id
    if point.kind is PendingKind.DELETE:
        if uid in stored:
            differences.unwanted.append(uid)
        return
    payloads = {part.point_id: payload_of(part) for part in point.parts}
    if not payloads.keys() <= stored.keys():
        differences.absent.append(point)
        return
    differing = {part: _differing(stored[part], payload) for part, payload in payloads.items()}
    fields = tuple(sorted(set().union(*differing.values())))
    if fields:
        differences.fields[uid] = fields
        if _EMBEDDED.isdisjoint(fields):
            differences.stale[uid] = {part: payloads[part] for part, names in differing.items() if names}
        else:
            differences.reworded.append(point)


def _differing(payload: Mapping[str, object], expected: Mapping[str, object]) -> set[str]:
    names = payload.keys() | expected.keys()
    return {name for name in names if not _agree(payload.get(name), expected.get(name))}


def _agree(stored: object, expected: object) -> bool:
    """Compare two values; an engine may store the last digit of a float differently."""
    if isinstance(stored, float) and isinstance(expected, float):
        return math.isclose(stored, expected, rel_tol=1e-12)
    return _unordered(stored) == _unordered(expected)


def _unordered(value: object) -> object:
    """Return a list sorted, since edges are read in no particular order."""
    return sorted(value) if isinstance(value, list) else value
