"""Whether the numbers of an export are those that a store gives: steps without a gap, and counters that know of them.

A counter that is missing, or behind, would give a number again that an item has, or an erased one had.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from vicw_shared.archive.manifest import COUNTERS
from vicw_shared.archive.problems import refusal
from vicw_shared.archive.reading import ArchiveReader
from vicw_shared.archive.rows import COUNTERS as COUNTER_ROWS
from vicw_shared.archive.rows import NODES
from vicw_shared.model import Label, Node
from vicw_shared.model.erased_steps import VACATED
from vicw_sleep.archive.chaining import FIX
from vicw_sleep.steps import Noted, base_of, numbered

type Home = tuple[str, str]
type _Numbers = NDArray[np.uint64]

_MOST = 10_000_000
"""Steps of a run: what a store has no room for would be counted for hours."""
_HOLDERS = frozenset({Label.CONTEXT, Label.EVENT})


class Numbers:
    """The steps and arrivals of an export: ``add`` all nodes, then ``judge``."""

    def __init__(self) -> None:
        self._noted = Noted(0, 1)
        self._arrivals: Counter[Home] = Counter()

    def add(self, file: str, lines: Iterable[tuple[int, Node]]) -> None:
        """Take lines of a file in, whatever they are of. Raises InvalidInputError for steps that are none."""
        for line, node in lines:
            if node.label not in _HOLDERS:
                continue
            if not all(map(_is_run, _runs(node))):
                raise refusal(file, "metadata: it has steps that are no runs of numbers from 1", line=line)
            self._noted.add([node])
            home = (node.tenant, node.context)
            self._arrivals[home] = max(self._arrivals[home], node.arrival or 0)

    def judge(self, reader: ArchiveReader) -> None:
        """Raise InvalidInputError for a gap in the steps of a flow, and for a counter that is behind its numbers."""
        if len(starts := self._noted.starts()):
            raise _at(reader, starts, "flow_step: there is {step} in this flow, but not the one before")
        arrivals, flows = _counters(reader)
        for home, arrival in self._arrivals.items():
            if arrivals[home] < arrival:
                told = f"context {home[1]!r} has had {arrival} arrivals, of which its counter knows {arrivals[home]}"
                raise refusal(COUNTERS, told, FIX)
        if len(behind := _behind(self._noted.ends(), flows)):
            raise _at(
                reader, behind, f"flow_step: {{step}} is a step that the flow's counter ({COUNTERS}) knows nothing of"
            )


def _runs(node: Node) -> Iterator[object]:
    """Yield the runs of steps that an Event stands for, or that a Context keeps of what was erased."""
    told = node.metadata.get(VACATED, {}) if node.label is Label.CONTEXT else {}
    kept = [*told.values()] if isinstance(told, Mapping) else []
    for runs in [*kept, node.metadata.get("steps") if node.is_macro else None]:
        yield from runs if isinstance(runs, list) else []


def _is_run(run: object) -> bool:
    match run:
        case [int(first), int(last)]:
            return 1 <= first <= last < first + _MOST
    return False


def _counters(reader: ArchiveReader) -> tuple[Counter[Home], list[tuple[int, int]]]:
    """Return the counters of arrivals, and of each flow the number before its first step, with its counter."""
    arrivals: Counter[Home] = Counter()
    flows: list[tuple[int, int]] = []
    for _, row in reader.rows(COUNTERS, COUNTER_ROWS):
        if row.flow is None:
            arrivals[row.tenant, row.context] = row.value
        else:
            flows.append((base_of(row.tenant, row.context, row.flow), max(0, row.value)))
    return arrivals, flows


def _behind(ends: _Numbers, flows: list[tuple[int, int]]) -> _Numbers:
    """Return those last steps of flows that no counter covers."""
    if not flows:
        return ends
    bases, values = np.array(sorted(flows), dtype=np.uint64).T
    # Numbers go around: what stands before the first base follows the last one.
    place = np.searchsorted(bases, ends) - 1
    behind: _Numbers = ends[ends - bases[place] > values[place]]
    return behind


def _at(reader: ArchiveReader, numbers: _Numbers, told: str) -> Exception:
    """Return the refusal of the first line that has one of these numbers."""
    wanted = set(numbers.tolist())
    for name, line, node in _lines(reader):
        for number, step, _ in numbered([node]):
            if number in wanted:
                return refusal(name, told.format(step=step), FIX, line=line)
    raise AssertionError("numbers come from lines")


def _lines(reader: ArchiveReader) -> Iterator[tuple[str, int, Node]]:
    for name, collection in reader.manifest.node_files.items():
        if collection.label in _HOLDERS:
            yield from ((name, line, node) for line, node in reader.rows(name, NODES))
