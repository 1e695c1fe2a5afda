"""What becomes of an item whose grace is over, by what has happened to it meanwhile."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import batched
from typing import Protocol

from vicw_ingest.capacity.choosing import correcting_of
from vicw_ingest.capacity.policy import Policy, is_kept_item
from vicw_shared.model import Node
from vicw_shared.ports import GraphStore, Step, Uses

_AT_ONCE = 200


class Graph(GraphStore, Uses, Protocol):
    """What items are judged by."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why an item stays after all; "": it goes. None: it is there no more."""

    item: Node | None
    reason: str


async def judge(graph: Graph, due: Sequence[Step], policy: Policy, now: datetime) -> dict[str, Verdict]:
    """Return what would become of the items of these steps, by step, if they were erased now."""
    found: dict[str, Verdict] = {}
    for (tenant, _), some in by_context(due).items():
        for batch in batched(some, _AT_ONCE):
            items = await graph.nodes(tenant, [step.subject for step in batch])
            found |= await verdicts_on(graph, tenant, batch, items, policy, now)
    return found


async def verdicts_on(
    graph: Graph, tenant: str, steps: Sequence[Step], items: Mapping[str, Node], policy: Policy, now: datetime
) -> dict[str, Verdict]:
    """Return what is to become of these ``items`` (by uid) of a tenant, by step."""
    uses = await graph.uses(tenant, list(items))
    correcting = await correcting_of(graph, tenant, list(items))
    found: dict[str, Verdict] = {}
    for step in steps:
        item, use = items.get(step.subject), uses.get(step.subject)
        if item is None or not is_kept_item(item):
            reason = "it is there no more, or was changed"
        elif item.uid in correcting:
            reason = "it corrects another by now"
        elif use is not None and use.last > step.at:
            reason = "an answer has shown it since"
        else:
            reason = policy.stays(item, use, now)
        found[step.id] = Verdict(item, reason)
    return found


def by_context(steps: Iterable[Step]) -> dict[tuple[str, str], list[Step]]:
    """Return steps by the tenant and the context that they are of."""
    found: dict[tuple[str, str], list[Step]] = defaultdict(list)
    for step in steps:
        found[step.tenant, step.context].append(step)
    return found
