"""The use case: choose what weighs least → log it → a grace in which all is as before → erase what nobody needed.

What is on its way out is known by the sleep cycle's log alone: the item itself is not touched until it goes. So taking
a step back is one record, and a kill between two transactions leaves nothing half done: the next run goes on.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import batched, groupby
from typing import Protocol

from prometheus_client import Counter as Counted

from vicw_ingest.capacity.choosing import Graph as Chooses
from vicw_ingest.capacity.choosing import Weighed, correcting_of, held_by_tenant, uses_of, weakest
from vicw_ingest.capacity.policy import Policy, is_kept_item
from vicw_ingest.erasing.choosing import Chosen
from vicw_ingest.erasing.eraser import Eraser
from vicw_ingest.erasing.eraser import Graph as Erases
from vicw_shared.model import Node
from vicw_shared.ports import GraphStore, GraphTransaction, Outcome, SleepLog, Step, WorkQueue
from vicw_shared.uids import make_uid
from vicw_shared.undoing import undoable, undone

FORGET = "forget"
"""The task by which the log knows what is on its way out."""
_AT_ONCE = 100
_STEPS = 1000
MARKED = Counted("vicw_forget_marked_total", "Items that are to go for want of room")
KEPT = Counted("vicw_forget_kept_total", "Items that were to go, and were needed after all")
ERASED = Counted("vicw_forget_erased_total", "Items that were erased for want of room")

type Told = Callable[[Node, float], None]
"""Hears of each item that is to go, and of what it weighs."""


class Graph(Chooses, Erases, Protocol):
    """What capacity needs of a graph."""


class Logs(GraphStore, SleepLog, Protocol):
    """What taking a step back needs of one."""


@dataclass(slots=True)
class Done:
    """What a run did: items ``erased``, ``kept`` after all, and ``marked`` to go. ``more``: there is more to do now."""

    erased: int = 0
    kept: int = 0
    marked: int = 0
    more: bool = False

    def add(self, other: Done) -> None:
        """Take in what the run after it did."""
        self.erased += other.erased
        self.kept += other.kept
        self.marked += other.marked
        self.more = other.more


@dataclass(frozen=True, slots=True)
class Capacity:
    """Keeps a store small. Any number of these may be at work."""

    graph: Graph
    eraser: Eraser
    queue: WorkQueue
    told: Told = field(default=lambda item, weight: None)

    async def run(self, policy: Policy, *, now: datetime, dry: bool = False, most: int = 1000) -> Done:
        """Erase what was to go and whose grace is over, and choose what goes next, ``most`` of each at most.

        ``dry``: only tell what would be chosen. Raises what the engines raise; what was done until then stands.
        """
        done = Done()
        if not dry:
            for erasure in await self.eraser.pending(by=FORGET):
                await self._end(erasure)
        steps = await self._steps()
        leaving = [step for step in steps if step.outcome is Outcome.DONE]
        held = await held_by_tenant(self.graph)
        if not dry:
            leaving = await self._settle(leaving, held, policy, now, most, done)
        over = held - Counter(step.tenant for step in leaving) - Counter(dict.fromkeys(held, policy.items))
        if over:
            passed_over = {step.subject for step in steps if step.outcome is Outcome.UNDONE or step in leaving}
            wanted = {tenant: min(count, most) for tenant, count in over.items()}
            for tenant, found in (await weakest(self.graph, policy, now, wanted, passed_over)).items():
                await self._mark(tenant, found, policy, now, dry, done)
                done.more |= len(found) == most and not dry
        return done

    async def _steps(self) -> list[Step]:
        found: list[Step] = []
        while page := await self.graph.steps(None, task=FORGET, before=found[-1] if found else None, limit=_STEPS):
            found += page
        return found

    async def _settle(
        self, steps: Sequence[Step], held: Counter[str], policy: Policy, now: datetime, most: int, done: Done
    ) -> list[Step]:
        """Erase what was chosen longer ago than its grace, but what was needed since, or must not go any more.

        Return what is still to go, and take from ``held`` what went.
        """
        due = sorted((step for step in steps if now - step.at >= policy.grace), key=lambda step: (step.tenant, step.id))
        done.more = len(due) > most
        settled = due[:most]
        for tenant, some in groupby(settled, key=lambda step: step.tenant):
            going: dict[str, list[str]] = defaultdict(list)
            for batch in batched(some, _AT_ONCE):
                over = max(0, held[tenant] - policy.items)
                for item in await self._sorted_out(tenant, batch, over, policy, now, done):
                    going[item.context] += item.items
                    held[tenant] -= 1
            if going:
                await self._end(await self.eraser.begin(Chosen(tenant, dict(going), by=FORGET)))
                ERASED.inc(sum(map(len, going.values())))
                done.erased += sum(map(len, going.values()))
        gone = {step.id for step in settled}
        return [step for step in steps if step.id not in gone]

    async def _sorted_out(
        self, tenant: str, steps: Sequence[Step], over: int, policy: Policy, now: datetime, done: Done
    ) -> list[Node]:
        """Return what is to go now, as many as a tenant is ``over``; log of the others that they are kept, and why."""
        items = await self.graph.nodes(tenant, [step.subject for step in steps])
        uses = await uses_of(self.graph, list(items.values()))
        correcting = await correcting_of(self.graph, tenant, list(items))
        going: list[Node] = []
        for step in steps:
            item = items.get(step.subject)
            if item is None or not is_kept_item(item):
                reason = "it is there no more, or was changed"
            elif item.uid in correcting:
                reason = "it corrects another by now"
            elif len(going) == over:
                reason = "there is room for it now"
            elif (use := uses.get(item.uid)) is not None and use.last > step.at:
                reason = "an answer has shown it since"
            else:
                reason = policy.stays(item, use, now)
            if item is not None and not reason:
                going.append(item)
                continue
            KEPT.inc()
            done.kept += 1
            await _log(self.graph, [replace(step, outcome=Outcome.REFUSED, at=now, reason=reason)])
        return going

    async def _end(self, erasure: str) -> None:
        await self.eraser.run(erasure)
        await self.eraser.graph.end_erasure(erasure)
        await self.queue.wake()

    async def _mark(
        self, tenant: str, found: Sequence[Weighed], policy: Policy, now: datetime, dry: bool, done: Done
    ) -> None:
        by_context: dict[str, list[Weighed]] = defaultdict(list)
        for one in found:
            by_context[one.context].append(one)
        for some in by_context.values():
            for batch in batched(some, _AT_ONCE):
                items = await self.graph.nodes(tenant, [one.uid for one in batch])
                there = [(items[one.uid], one.weight) for one in batch if one.uid in items]
                for item, weight in there:
                    self.told(item, weight)
                if not dry:
                    await _log(self.graph, [_step(item, weight, now, policy) for item, weight in there])
                    MARKED.inc(len(there))
                done.marked += len(there)


async def keep(graph: Logs, step_id: str, *, now: datetime, grace: timedelta) -> None:
    """Keep what a step has chosen; it is left alone from then on. Raises NotFoundError, with the reason."""
    await _log(graph, [undone(await undoable(graph, step_id, FORGET, now=now, grace=grace), now)])


async def _log(graph: GraphStore, steps: Sequence[Step]) -> None:
    """Log steps of one context."""
    if not steps:
        return

    async def work(transaction: GraphTransaction) -> None:
        for step in steps:
            await transaction.log_step(step)

    await graph.write(steps[0].tenant, steps[0].context, work)


def _step(item: Node, weight: float, now: datetime, policy: Policy) -> Step:
    details: dict[str, object] = {
        "name": item.name,
        "weight": round(weight, 4),
        "goes": (now + policy.grace).isoformat(),
        "flow": item.flow_id,
        "sources": len(item.items),
    }
    return Step(
        id=make_uid(FORGET, item.uid),
        tenant=item.tenant,
        context=item.context,
        task=FORGET,
        outcome=Outcome.DONE,
        at=now,
        subject=item.uid,
        details=details,
    )
