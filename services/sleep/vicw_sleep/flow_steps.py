"""Check that the steps of every flow count from 1 without a gap.

No index has the steps of a flow: those of retired Events count, too, and may be all that is left of it. So each step
becomes one number, a hash of its flow plus the step. The steps of a flow are then one run of numbers, and each run has
to begin with a first step. Erased Events had steps, too: their Context keeps these. A step takes eight bytes, and one
pass over the Events handles a limited number of steps: a larger store takes more passes, not more memory.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from vicw_shared.consolidation.consolidate import steps_of
from vicw_shared.model import Label, Node
from vicw_shared.model.erased_steps import flow_key, vacated
from vicw_shared.ports import GraphAudit, Nodes, scan_pages
from vicw_sleep.discrepancies import PAGE

AT_ONCE = 4_000_000
"""Approximate number of steps per pass: 32 MB, and as much again while they are sorted."""
_BLOCK = 2**20
"""Size of the blocks of numbers that belong to a pass as a whole, so that a flow may have any length."""
_RANGE = 2**64


async def gaps(audit: GraphAudit, most: int, progress: Callable[[int], None]) -> tuple[list[str], int]:
    """Return a sentence for each step, except first steps, whose predecessor is missing, and the number of further
    gaps.

    At most ``most`` gaps are listed, each confirmed by a second pass.
    """
    parts = 1 + await audit.count(Label.EVENT) // AT_ONCE
    found: list[int] = []
    more = events = 0
    for part in range(parts):
        noted = NumberedSteps(part, parts)
        async for roots in scan_pages(audit, Nodes(Label.CONTEXT), limit=PAGE):
            noted.add(roots)
        async for page in scan_pages(audit, Nodes(Label.EVENT), limit=PAGE):
            noted.add(page)
            events += len(page)
            progress(events // parts)
        starts = noted.starts()
        room = most - len(found)
        found += starts[:room].tolist()
        more += len(starts[room:])
    return (await _said(audit, set(found)) if found else []), more


class NumberedSteps:
    """The steps in every ``parts``-th block of numbers, and the last step before each block."""

    def __init__(self, part: int, parts: int) -> None:
        self._part = part
        self._parts = parts
        self._steps = array("Q")
        self._firsts = array("Q")

    def add(self, events: Iterable[Node]) -> None:
        """Add the steps of Events, and the erased ones that Contexts keep."""
        for number, step, _ in numbered(events):
            if self._holds(number) or self._holds(number + 1):
                self._steps.append(number)
                if step == 1:
                    self._firsts.append(number)

    def starts(self) -> NDArray[np.uint64]:
        """Return the numbers that begin a run without being a first step."""
        steps = np.asarray(self._steps)
        steps.sort()
        begins = np.ones(len(steps), dtype=bool)
        begins[1:] = steps[1:] - steps[:-1] > 1
        starts = steps[begins]
        starts = starts[starts // _BLOCK % self._parts == self._part]
        return np.setdiff1d(starts, np.asarray(self._firsts))

    def _holds(self, number: int) -> bool:
        return number // _BLOCK % self._parts == self._part


async def _said(audit: GraphAudit, starts: set[int]) -> list[str]:
    """Return sentences that name the flows, except where the missing step exists now: it may have been stored
    meanwhile.
    """
    said: dict[int, str] = {}
    preceded: set[int] = set()
    async for page in scan_pages(audit, Nodes(Label.EVENT), limit=PAGE):
        for number, step, event in numbered(page):
            if number in starts:
                flow = f"Flow {event.flow_id!r} of {event.context!r}"
                there = f"there is {step}, but not {step - 1}"
                said[number] = f"{flow}: steps are not gap-free from 1: {there}"
            if number + 1 in starts:
                preceded.add(number + 1)
    return [said[number] for number in sorted(said.keys() - preceded)]


def numbered(events: Iterable[Node]) -> Iterator[tuple[int, int, Node]]:
    """Yield the number of each step of an Event, of the Events a Macro-Event replaces, and of a Context's erased
    Events.
    """
    for event in events:
        if event.label is Label.CONTEXT:
            yield from (((UUID(key).int + step) % _RANGE, step, event) for key, step in vacated(event))
            continue
        if event.arrival is None or event.flow_id is None:
            continue
        base = base_of(event.tenant, event.context, event.flow_id)
        for first, last in steps_of([event]):
            for step in range(first, last + 1):
                yield (base + step) % _RANGE, step, event


@lru_cache(maxsize=1000)
def base_of(tenant: str, context: str, flow: str) -> int:
    """Return the number before that of a flow's first step."""
    return UUID(flow_key(tenant, context, flow)).int % _RANGE
