"""Whether each node of an export belongs to its context, and what was merged was so into one thing, in no circle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vicw_shared.archive.manifest import EDGES
from vicw_shared.archive.problems import refusal
from vicw_shared.archive.uids import UidIndex
from vicw_shared.merging import MERGED_INTO
from vicw_shared.model import Edge
from vicw_sleep.archive.chaining import FIX

_BELONGS_TO = "BELONGS_TO"


class Belonging:
    """What the edges of an export say of its nodes (``uids``): ``add`` all of them, then ``require_homes``."""

    def __init__(self, uids: UidIndex) -> None:
        self._uids = uids
        self._homes = np.zeros(len(uids), np.uint8)
        self._merged: dict[str, str] = {}

    def add(self, lines: Sequence[tuple[int, Edge]]) -> None:
        """Take lines in. Raises InvalidInputError for what belongs to two contexts, or is merged into two things."""
        homes = [(line, edge) for line, edge in lines if edge.type == _BELONGS_TO]
        for place, (line, edge) in zip(self._uids.places([edge.source for _, edge in homes]), homes, strict=True):
            if self._homes[place]:
                raise refusal(EDGES, f"source: {edge.source} belongs to a context already", FIX, line=line)
            self._homes[place] = 1
        for line, edge in lines:
            if edge.type == MERGED_INTO:
                self._merge(line, edge)

    def _merge(self, line: int, edge: Edge) -> None:
        if self._merged.setdefault(edge.source, edge.target) != edge.target:
            raise refusal(EDGES, f"source: {edge.source} is merged into another thing already", FIX, line=line)
        at: str | None = edge.target
        while at is not None and at != edge.source:
            at = self._merged.get(at)
        if at is not None:
            raise refusal(EDGES, f"target: {edge.source} is merged into what is merged into it", FIX, line=line)

    def require_homes(self, contexts: Sequence[str]) -> None:
        """Raise InvalidInputError for a node that belongs to no context, and is none of these ``contexts`` (uids)."""
        self._homes[self._uids.places(contexts)] = 1
        if len(lost := np.flatnonzero(self._homes == 0)):
            raise refusal(EDGES, f"the node {self._uids.uid(int(lost[0]))} belongs to no context", FIX)
