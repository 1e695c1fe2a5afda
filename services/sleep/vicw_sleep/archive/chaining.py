"""Whether the edges of the two chains join all neighbours, and each step of a flow is one Event's alone.

Of each Event of a chain a row of numbers is kept while the nodes are read, 64 bytes; sorted, they say what follows
what. From then on it is 26 bytes and what finds an Event, whatever the chains' lengths.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from vicw_shared.archive.manifest import EDGES
from vicw_shared.archive.problems import refusal
from vicw_shared.archive.uids import UidIndex
from vicw_shared.model import Edge, Node
from vicw_shared.model.chain import HAPPENED_AFTER, NEXT, chain_key, clock_key, next_key
from vicw_shared.model.erased_steps import flow_key

_NO_FLOW = (0, 0, 0, 0)
_LAST = 2**63 - 1
"""In the place of a caller's own step: what has none comes behind all that have."""
_LINES = 2**40
_HALF = 2**64
_WHERE = {NEXT: "in one flow", HAPPENED_AFTER: "on one context's clock"}
FIX = (
    "Make the export again from a store that `vicw check` calls clean; `vicw restore` puts it into an empty store "
    "as it is. Nothing was imported"
)

type _Column = NDArray[np.int64]


class Chains:
    """The chains of an export: ``add`` all nodes, ``close``, then ask about edges."""

    def __init__(self) -> None:
        self._files: list[str] = []
        self._uids = UidIndex()
        self._rows = array("q")
        self._count = 0
        self._place: _Column = np.empty(0, np.int64)
        self._followers: dict[str, _Column] = {}
        self._joined: dict[str, NDArray[np.bool_]] = {}

    def add(self, file: str, home: int, lines: Sequence[tuple[int, Node]]) -> None:
        """Take in lines of a file, the nodes of one home among them."""
        if file not in self._files:
            self._files.append(file)
        members = [(line, node) for line, node in lines if chain_key(HAPPENED_AFTER, node) is not None]
        for line, node in members:
            if node.flow_id is not None and node.flow_step is None:
                raise refusal(file, "flow_step: it has a flow, but no step in it", FIX, line=line)
            at, arrival, _, _ = clock_key(node)
            self._rows.extend((self._files.index(file) * _LINES + line, home, at, arrival, *_flow(node)))
        self._uids.add([node.uid for _, node in members], range(self._count, self._count + len(members)))
        self._count += len(members)

    def close(self) -> None:
        """Put the chains in order. Raises InvalidInputError for a step that two Events of a flow have."""
        rows = np.asarray(self._rows).reshape(-1, 8).T
        place, home, at, arrival, high, low, own, step = rows
        in_flow = (high != 0) | (low != 0)
        order = np.lexsort((step, low, high))
        order = order[in_flow[order]]
        same = _same(order, high, low, step)
        if len(twice := np.flatnonzero(same)):
            raise self._twice(place, step, order[twice[0]], order[twice[0] + 1])
        order = np.lexsort((step, at, own, low, high))
        self._followers[NEXT] = _followers(order[in_flow[order]], high, low)
        # Two of one arrival are nothing that a store makes: they stay as they are in the file.
        self._followers[HAPPENED_AFTER] = _followers(np.lexsort((arrival, at, home)), home)
        self._joined = {chain: followers < 0 for chain, followers in self._followers.items()}
        self._place = place.copy()
        self._rows = array("q")

    def require_neighbours(self, lines: Sequence[tuple[int, Edge]]) -> None:
        """Raise InvalidInputError for an edge of a chain that does not lead from a member to the one that follows."""
        for chain, followers in self._followers.items():
            edges = [(line, edge) for line, edge in lines if edge.type == chain]
            earlier, later = (self._uids.find([end(edge) for _, edge in edges]) for end in _ENDS[chain])
            stray = (earlier < 0) | (later < 0)
            stray[~stray] = followers[earlier[~stray]] != later[~stray]
            for number in np.flatnonzero(stray):
                line, edge = edges[number]
                told = f"{chain} joins {edge.source} to {edge.target}, which are not neighbours {_WHERE[chain]}"
                raise refusal(EDGES, told, FIX, line=line)
            self._joined[chain][earlier] = True

    def require_whole(self) -> None:
        """Raise InvalidInputError for neighbours that no edge joined: all edges have been asked about."""
        for chain, joined in self._joined.items():
            if len(apart := np.flatnonzero(~joined)):
                file, line = self._at(apart[0])
                other, there = self._at(self._followers[chain][apart[0]])
                told = f"no {chain} joins it to the one that follows {_WHERE[chain]}: {other}, line {there}"
                raise refusal(file, told, FIX, line=line)

    def _at(self, row: int) -> tuple[str, int]:
        file, line = divmod(int(self._place[row]), _LINES)
        return self._files[file], line

    def _twice(self, place: _Column, step: _Column, one: int, other: int) -> Exception:
        self._place = place
        first, second = sorted((one, other), key=lambda row: int(place[row]))
        (there, line), (file, here) = self._at(first), self._at(second)
        told = f"flow_step: {step[one]} is given twice in this flow: {there}, line {line} has it, too"
        return refusal(file, told, FIX, line=here)


_ENDS: dict[str, tuple[Callable[[Edge], str], Callable[[Edge], str]]] = {
    NEXT: (lambda edge: edge.source, lambda edge: edge.target),
    HAPPENED_AFTER: (lambda edge: edge.target, lambda edge: edge.source),
}
"""The earlier of an edge's ends, then the later."""


def _flow(node: Node) -> tuple[int, int, int, int]:
    """Return the flow, as the halves of a hash, and the Event's place in it."""
    if chain_key(NEXT, node) is None or node.flow_id is None:
        return _NO_FLOW
    _, own, _, step = next_key(node)
    high, low = divmod(UUID(flow_key(node.tenant, node.context, node.flow_id)).int, _HALF)
    return high - _HALF // 2, low - _HALF // 2, own if node.own_step is not None else _LAST, step


def _same(order: _Column, *columns: _Column) -> NDArray[np.bool_]:
    """Tell of all but the last in an order whether the next one has the same in all columns."""
    same = np.ones(max(len(order) - 1, 0), dtype=bool)
    for column in columns:
        same &= column[order[1:]] == column[order[:-1]]
    return same


def _followers(order: _Column, *chain: _Column) -> _Column:
    """Return what follows each row in an order, -1 behind a chain's last: those of one chain have its columns alike."""
    followers = np.full(len(chain[0]), -1, np.int64)
    same = _same(order, *chain)
    followers[order[:-1][same]] = order[1:][same]
    return followers
