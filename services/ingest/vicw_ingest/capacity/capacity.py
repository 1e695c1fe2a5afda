"""The use case: choose what weighs least → log it → a grace in which all is as before → erase what nobody needed.

What is on its way out is known by the sleep cycle's log alone: the item itself is not touched until it goes. So taking
a step back is one record, and a kill leaves nothing half done. An item is judged once more, under its context's lock,
by the transaction that erases it and its step: whatever happened to it meanwhile counts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import batched
from typing import Protocol

from prometheus_client import Counter as Counted

from vicw_ingest.capacity.choosing import Graph as Chooses
from vicw_ingest.capacity.choosing import Weighed, correcting_of, held_by_tenant, weakest
from vicw_ingest.capacity.policy import Policy, is_kept_item
from vicw_ingest.erasing.eraser import Eraser
from vicw_ingest.erasing.eraser import Graph as Erases
from vicw_ingest.erasing.erasing import Erasing
from vicw_shared.model import Node
from vicw_shared.ports import GraphStore, GraphTransaction, Outcome, SleepLog, Step, WorkQueue
from vicw_shared.uids import make_uid
from vicw_shared.undoing import undoable, undone

FORGET = "forget"
"""The task by which the log knows what is on its way out."""
_AT_ONCE = 25
"""Items that one transaction marks, or erases."""
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

    async def run(self, policy: Policy, *, now: datetime, dry: bool = False, most: int = 10_000) -> Done:
        """Erase what was to go and whose grace is over, and choose what goes next, ``most`` of each at most.

        ``dry``: only tell what would be chosen. Raises what the engines raise; what was done until then stands.
        """
        done = Done()
        steps = await self._steps()  # before the items: what another run erases in between, it does not erase again
        leaving = [step for step in steps if step.outcome is Outcome.DONE]
        held = await held_by_tenant(self.graph)
        held.subtract(Counter(step.tenant for step in leaving))
        if not dry:
            leaving = await self._make_use_of_room(leaving, held, policy, now, done)
            await self._erase([step for step in leaving if now - step.at >= policy.grace], policy, now, most, done)
        over = {tenant: min(count - policy.items, most) for tenant, count in held.items() if count > policy.items}
        if over:
            passed_over = {step.subject for step in steps if step.outcome is not Outcome.REFUSED}
            for tenant, found in (await weakest(self.graph, policy, now, over, passed_over)).items():
                await self._mark(tenant, found, policy, now, dry, done)
                done.more |= len(found) == most and not dry
        return done

    async def _steps(self) -> list[Step]:
        found: list[Step] = []
        while page := await self.graph.steps(None, task=FORGET, before=found[-1] if found else None, limit=_STEPS):
            found += page
        return found

    async def _make_use_of_room(
        self, leaving: Sequence[Step], held: Counter[str], policy: Policy, now: datetime, done: Done
    ) -> list[Step]:
        """Keep what there is room for by now, of each tenant what weighs most; return what is still to go."""
        stay: set[str] = set()
        for step in sorted(leaving, key=_weight, reverse=True):
            if held[step.tenant] < policy.items:
                held[step.tenant] += 1
                stay.add(step.id)
                await self._keep(step, "there is room for it now", now, done)
        return [step for step in leaving if step.id not in stay]

    async def _erase(self, due: Sequence[Step], policy: Policy, now: datetime, most: int, done: Done) -> None:
        done.more = len(due) > most
        gone: dict[str, list[Node]] = defaultdict(list)
        try:
            for (tenant, context), some in _by_context(due[:most]).items():
                for batch in batched(some, _AT_ONCE):
                    gone[tenant] += await self._erase_batch(tenant, context, batch, policy, now, done)
        finally:
            for tenant, nodes in gone.items():
                await self.eraser.sweep(tenant, nodes)
            if gone:
                await self.queue.wake()

    async def _erase_batch(
        self, tenant: str, context: str, steps: Sequence[Step], policy: Policy, now: datetime, done: Done
    ) -> list[Node]:
        kept: dict[str, str] = {}

        async def work(transaction: GraphTransaction) -> tuple[list[Node], int]:
            kept.clear()
            items = await transaction.nodes([step.subject for step in steps])
            uses = await self.graph.uses(tenant, list(items))
            correcting = await correcting_of(self.graph, tenant, list(items))
            going: list[str] = []
            for step in steps:
                noted, item, use = await self.graph.step(step.id), items.get(step.subject), uses.get(step.subject)
                if noted is None or noted.outcome is not Outcome.DONE:
                    continue  # somebody has kept it, or has been here before
                if item is None or not is_kept_item(item):
                    kept[step.id] = "it is there no more, or was changed"
                elif item.uid in correcting:
                    kept[step.id] = "it corrects another by now"
                elif use is not None and use.last > step.at:
                    kept[step.id] = "an answer has shown it since"
                elif reason := policy.stays(item, use, now):
                    kept[step.id] = reason
                else:
                    going += item.items
                    await transaction.drop_steps([step.id])
            erasing = Erasing(transaction, self.eraser.registry, now, tenant, context)
            return (await erasing.erase(going) if going else []), len(going)

        gone, count = await self.graph.write(tenant, context, work)
        ERASED.inc(count)
        done.erased += count
        for step in steps:
            if step.id in kept:
                await self._keep(step, kept[step.id], now, done)
        return gone

    async def _keep(self, step: Step, reason: str, now: datetime, done: Done) -> None:
        """Log that an item is not to go after all."""
        KEPT.inc()
        done.kept += 1
        await _log(self.graph, [replace(step, outcome=Outcome.REFUSED, at=now, reason=reason)])

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
                done.marked += len(there)
                if not dry:
                    await _log(self.graph, [_step(item, weight, now, policy) for item, weight in there])
                    MARKED.inc(len(there))


async def keep(graph: Logs, step_id: str, *, now: datetime) -> None:
    """Keep what a step has chosen; it is left alone from then on. Raises NotFoundError, with the reason.

    As long as it is there: that may be longer than its grace.
    """
    await _log(graph, [undone(await undoable(graph, step_id, FORGET, now=now, grace=timedelta.max), now)])


async def _log(graph: Logs, steps: Sequence[Step]) -> None:
    """Log steps of one context; what a person has undone since they were made stays so."""
    if not steps:
        return

    async def work(transaction: GraphTransaction) -> None:
        for step in steps:
            there = await graph.step(step.id)
            if there is None or there.outcome is not Outcome.UNDONE:
                await transaction.log_step(step)

    await graph.write(steps[0].tenant, steps[0].context, work)


def _by_context(steps: Iterable[Step]) -> dict[tuple[str, str], list[Step]]:
    found: dict[tuple[str, str], list[Step]] = defaultdict(list)
    for step in steps:
        found[step.tenant, step.context].append(step)
    return found


def _weight(step: Step) -> float:
    told = step.details.get("weight")
    return float(told) if isinstance(told, int | float) else 0.0


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
