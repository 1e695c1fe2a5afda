"""The use case: choose what weighs least → log it → a grace in which all is as before → erase what nobody needed.

What is on its way out is known by the sleep cycle's log alone: the item itself is not touched until it goes. So taking
a step back is one record, and a kill leaves nothing half done. An item is judged once more, under its context's lock,
by the transaction that erases it and its step: whatever happened to it meanwhile counts. What goes next is chosen
before anything is erased, so that a dry run, which erases nothing, chooses the same.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import batched
from typing import Protocol

from prometheus_client import Counter as Counted

from vicw_ingest.capacity.choosing import Graph as Chooses
from vicw_ingest.capacity.choosing import Weighed, held_by_tenant, weakest
from vicw_ingest.capacity.grace import Logs, forget_steps, is_ahead, waited
from vicw_ingest.capacity.judging import Verdict, by_context, judge, verdicts_on
from vicw_ingest.capacity.policy import Policy, is_kept_item
from vicw_ingest.erasing.eraser import Eraser
from vicw_ingest.erasing.eraser import Graph as Erases
from vicw_ingest.erasing.erasing import Erasing
from vicw_shared.model import Node
from vicw_shared.ports import GraphTransaction, Outcome, Step, WorkQueue
from vicw_shared.steps import step_pages
from vicw_shared.uids import make_uid
from vicw_shared.undoing import undoable, undone

FORGET = "forget"
"""The task by which the log knows what is on its way out."""
_AT_ONCE = 25
"""Items that one transaction marks, or erases."""
MARKED = Counted("vicw_forget_marked_total", "Items that are to go for want of room")
KEPT = Counted("vicw_forget_kept_total", "Items that were to go, and were needed after all")
ERASED = Counted("vicw_forget_erased_total", "Items that were erased for want of room")


class Fate(StrEnum):
    """What becomes of an item."""

    CHOSEN = "to go"
    ERASED = "erase"


type Told = Callable[[Fate, Node, float], None]
"""Hears of each item that is chosen or erased, and of what it weighs, or weighed when it was chosen."""


class Graph(Chooses, Erases, Protocol):
    """What capacity needs of a graph."""


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
    told: Told = field(default=lambda fate, item, weight: None)

    async def run(self, policy: Policy, *, now: datetime, dry: bool = False, most: int = 10_000) -> Done:
        """Erase what was to go and whose grace is over, and choose what goes next, ``most`` of each at most.

        ``dry``: only tell what a run would do. Raises what the engines raise; what was done until then stands.
        """
        done = Done()
        # Before the items: what another run erases in between, it does not erase again.
        steps = [step async for page in step_pages(self.graph, task=FORGET) for step in page]
        leaving = [step for step in steps if step.outcome is Outcome.DONE]
        if ahead := [step for step in leaving if is_ahead(step, now)]:
            steps, leaving = _without(steps, ahead), _without(leaving, ahead)  # they are chosen anew, or not at all
            if not dry:
                await forget_steps(self.graph, ahead)
        held = await held_by_tenant(self.graph)
        held.subtract(Counter(step.tenant for step in leaving))
        leaving = await self._make_use_of_room(leaving, held, policy, now, dry, done)
        due = [step for step in leaving if now - step.at >= policy.grace]
        if not dry:
            due = await waited(self.graph, due, now, policy.patience)
            done.more, due = len(due) > most, due[:most]
        verdicts = await judge(self.graph, due, policy, now)
        held.update(step.tenant for step in due if verdicts[step.id].reason)  # it stays, so another goes in its place
        chosen = await self._choose(steps, held, policy, now, most)
        if dry:
            self._count(due, verdicts, done)
        else:
            await self._erase(due, policy, now, done)
        for tenant, found in chosen.items():
            await self._mark(tenant, found, policy, now, dry, done)
            done.more |= len(found) == most and not dry
        return done

    async def _make_use_of_room(
        self, leaving: Sequence[Step], held: Counter[str], policy: Policy, now: datetime, dry: bool, done: Done
    ) -> list[Step]:
        """Keep what there is room for by now, of each tenant what weighs most; return what is still to go."""
        stay: set[str] = set()
        for step in sorted(leaving, key=_weight, reverse=True):
            if held[step.tenant] < policy.items:
                held[step.tenant] += 1
                stay.add(step.id)
                await self._keep(step, "there is room for it now", now, dry, done)
        return [step for step in leaving if step.id not in stay]

    async def _choose(
        self, steps: Sequence[Step], held: Counter[str], policy: Policy, now: datetime, most: int
    ) -> dict[str, list[Weighed]]:
        over = {tenant: min(count - policy.items, most) for tenant, count in held.items() if count > policy.items}
        passed_over = {step.subject for step in steps if step.outcome is not Outcome.REFUSED}
        return await weakest(self.graph, policy, now, over, passed_over) if over else {}

    def _count(self, judged: Sequence[Step], verdicts: Mapping[str, Verdict], done: Done) -> None:
        for step in judged:
            verdict = verdicts[step.id]
            if verdict.item is None or verdict.reason:
                done.kept += 1
            else:
                done.erased += len(verdict.item.items)
                self.told(Fate.ERASED, verdict.item, _weight(step))

    async def _erase(self, due: Sequence[Step], policy: Policy, now: datetime, done: Done) -> None:
        gone: dict[str, list[Node]] = defaultdict(list)
        try:
            for (tenant, context), some in by_context(due).items():
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
        verdicts: dict[str, Verdict] = {}

        async def work(transaction: GraphTransaction) -> tuple[list[Node], list[Step]]:
            verdicts.clear()
            items = await transaction.nodes([step.subject for step in steps])
            found = await verdicts_on(self.graph, tenant, steps, items, policy, now)
            for step in steps:
                noted = await self.graph.step(step.id)
                if noted is not None and noted.outcome is Outcome.DONE:  # else somebody has kept it, or was here before
                    verdicts[step.id] = found[step.id]
            going = [step for step in steps if step.id in verdicts and not verdicts[step.id].reason]
            await transaction.drop_steps([step.id for step in going])
            erasing = Erasing(transaction, self.eraser.registry, now, tenant, context)
            uids = [uid for step in going for uid in items[step.subject].items]
            return (await erasing.erase(uids) if uids else []), going

        gone, going = await self.graph.write(tenant, context, work)
        before = done.erased
        self._count(going, verdicts, done)
        ERASED.inc(done.erased - before)
        for step in steps:
            if step.id in verdicts and (reason := verdicts[step.id].reason):
                await self._keep(step, reason, now, False, done)
        return gone

    async def _keep(self, step: Step, reason: str, now: datetime, dry: bool, done: Done) -> None:
        """Log that an item is not to go after all."""
        done.kept += 1
        if dry:
            return
        KEPT.inc()
        await _log(self.graph, [replace(step, outcome=Outcome.REFUSED, at=now, reason=reason)])

    async def _mark(
        self, tenant: str, found: Sequence[Weighed], policy: Policy, now: datetime, dry: bool, done: Done
    ) -> None:
        of_context: dict[str, list[Weighed]] = defaultdict(list)
        for one in found:
            of_context[one.context].append(one)
        for some in of_context.values():
            for batch in batched(some, _AT_ONCE):
                items = await self.graph.nodes(tenant, [one.uid for one in batch])
                there = [(items[one.uid], one.weight) for one in batch if one.uid in items]
                there = [(item, weight) for item, weight in there if is_kept_item(item)]  # it was folded, or came back
                for item, weight in there:
                    self.told(Fate.CHOSEN, item, weight)
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
    """Log steps of one context; what a person has undone since they were made stays so, and what is erased is gone."""
    if not steps:
        return

    async def work(transaction: GraphTransaction) -> None:
        items = await transaction.nodes([step.subject for step in steps])
        for step in steps:
            there = await graph.step(step.id)
            is_erased = there is None and step.subject not in items
            is_undone = there is not None and there.outcome is Outcome.UNDONE
            if not is_erased and not is_undone:
                await transaction.log_step(step)

    await graph.write(steps[0].tenant, steps[0].context, work)


def _without(steps: Sequence[Step], others: Sequence[Step]) -> list[Step]:
    ids = {step.id for step in others}
    return [step for step in steps if step.id not in ids]


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
