"""Whether the steps of every flow count from 1 without a gap.

No index has the steps of a flow: those of retired Events count, too, and may be all that is left of it. So a step is
noted as one number, a hash of its flow plus the step. The steps of a flow are then one run of numbers, and what begins
a run has to be a first step. What was erased had its steps, too: its Context keeps these. That takes eight bytes a
step, and no more than so many steps are looked at in one go over the Events: what a larger store takes is more goes,
not more memory.
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
"""Steps noted at once, about: 32 MB of them, and as much again while they are judged."""
_BLOCK = 2**20
"""Numbers that are noted in one go or not at all, so that a flow may have any length."""
_RANGE = 2**64


async def gaps(audit: GraphAudit, most: int, progress: Callable[[int], None]) -> tuple[list[str], int]:
    """Return a sentence for each step but a first that no step of its flow goes before, and how many more there are.

    At most ``most`` are said, once another look has not found the step before.
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
    """The steps in every ``parts``-th block of numbers, and in each the last one before it."""

    def __init__(self, part: int, parts: int) -> None:
        self._part = part
        self._parts = parts
        self._steps = array("Q")
        self._firsts = array("Q")

    def add(self, events: Iterable[Node]) -> None:
        """Note the steps of Events, and the erased ones that Contexts keep."""
        for number, step, _ in numbered(events):
            if self._holds(number) or self._holds(number + 1):
                self._steps.append(number)
                if step == 1:
                    self._firsts.append(number)

    def starts(self) -> NDArray[np.uint64]:
        """Return the numbers that begin a run, but are no first step."""
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
    """Name the flows, unless what was missing is there now: it may have been stored behind the first look."""
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
    """Return the number of each step that an Event has, or stands for, or that a Context's erased ones had."""
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
