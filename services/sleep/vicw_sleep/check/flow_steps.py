"""Check that the steps of every flow count from 1 without a gap.

No index lists the steps of a flow: steps of retired Events count, too, and a flow may have no others. The first pass
over the Events keeps four numbers for each flow; the second keeps all steps of the flows whose numbers do not fit.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass

from vicw_core.consolidation.consolidate import steps_of
from vicw_shared.model import Label, Node
from vicw_shared.model.erased_steps import flow_key, vacated
from vicw_shared.ports import GraphAudit, Nodes, scan_pages
from vicw_sleep.reconcile.discrepancies import PAGE


@dataclass(slots=True)
class _Sums:
    """The number of steps of a flow, their sum, the sum of their squares and the last of them."""

    count: int = 0
    total: int = 0
    squares: int = 0
    last: int = 0

    def add(self, step: int) -> None:
        self.count += 1
        self.total += step
        self.squares += step * step
        self.last = max(self.last, step)

    @property
    def fits(self) -> bool:
        """Whether the steps are 1 to ``last``, each once: two wrong steps cannot hide each other in all three."""
        n = self.count
        return n == self.last and (2 * self.total, 6 * self.squares) == (n * (n + 1), n * (n + 1) * (2 * n + 1))


async def gaps(
    audit: GraphAudit, limit: int, progress: Callable[[int], None], page_size: int = PAGE
) -> tuple[list[str], int]:
    """Return a sentence for each step, except first steps, whose predecessor is missing; at most ``limit``.

    The second value is the number of further gaps. A step that is stored between the two passes makes no gap.
    """
    sums: dict[str, _Sums] = {}
    async for key, step, _ in _steps(audit, progress, page_size):
        sums.setdefault(key, _Sums()).add(step)
    doubtful = {key: of_flow.last for key, of_flow in sums.items() if not of_flow.fits}
    sentences = [sentence async for sentence in _missing(audit, doubtful, page_size)] if doubtful else []
    return sentences[:limit], len(sentences[limit:])


async def _missing(audit: GraphAudit, last: Mapping[str, int], page_size: int) -> AsyncIterator[str]:
    """Yield the gaps of the flows in ``last``, up to the last step that the first pass read."""
    steps: dict[str, set[int]] = {key: set() for key in last}
    names: dict[str, str] = {}
    async for key, step, event in _steps(audit, lambda _: None, page_size):
        if key in steps and step <= last[key]:
            steps[key].add(step)
            if event is not None:
                names[key] = f"Flow {event.flow_id!r} of {event.context!r}"
    for key, present in steps.items():
        for step in sorted(present):
            if step != 1 and step - 1 not in present:
                there = f"there is {step}, but not {step - 1}"
                yield f"{names.get(key, 'An erased flow')}: steps are not gap-free from 1: {there}"


async def _steps(
    audit: GraphAudit, progress: Callable[[int], None], page_size: int
) -> AsyncIterator[tuple[str, int, Node | None]]:
    """Yield the key of a flow, a step and its Event: erased steps of Contexts first, these without an Event."""
    async for roots in scan_pages(audit, Nodes(Label.CONTEXT), limit=page_size):
        for root in roots:
            for key, step in vacated(root):
                yield key, step, None
    done = 0
    async for events in scan_pages(audit, Nodes(Label.EVENT), limit=page_size):
        for event in events:
            for key, step in _own_steps(event):
                yield key, step, event
        done += len(events)
        progress(done)


def _own_steps(event: Node) -> Iterator[tuple[str, int]]:
    """Yield the steps of an Event, or of the Events that a Macro-Event replaces."""
    if event.arrival is None or event.flow_id is None:
        return
    key = flow_key(event.tenant, event.context, event.flow_id)
    for first, last in steps_of([event]):
        for step in range(first, last + 1):
            yield key, step
