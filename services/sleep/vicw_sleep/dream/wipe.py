"""Wipes all that dreams have made: what is left is what there would be without any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import groupby

from vicw_shared.dreams import MADE, MAKER, dream_edges, drop_dream_edges, is_dreamt, release_tags
from vicw_shared.edge_factory import DREAM
from vicw_shared.model import Label, Node
from vicw_shared.ports import (
    Direction,
    GraphTransaction,
    MaintenanceStep,
    Nodes,
    Outcome,
    Steps,
    Store,
    WorkQueue,
    scan_pages,
)
from vicw_shared.progress import Progress, silent
from vicw_sleep.dream.service import WIPED, pages

_PAGE = 500


async def wipe(graph: Store, queue: WorkQueue, *, now: datetime, progress: Progress = silent) -> int:
    """Drop all edges and tags that dreams have made, of all tenants; return how many edges.

    What a dream was undone for is left alone as before; all else may be dreamt of again. A wipe that is broken off is
    brought to an end by the next one.
    """
    # First: an item whose edges are gone, but not its step, would never be dreamt of again.
    await _wipe_steps(graph, now)
    wiped = looked = 0
    async for _, page in pages(graph):
        items = sorted((whole.item for whole in page), key=lambda item: item.context)
        for context, some in groupby(items, key=lambda item: item.context):
            uids = [item.uid for item in some]
            wiped += await graph.write(page[0].item.tenant, context, partial(_wipe_items, uids=uids, now=now))
        looked += len(page)
        progress("wiping", looked, 0)
    await _wipe_tags(graph, now)
    # And last: somebody may have dreamt meanwhile, whose edges went with the others, but for those that came later.
    await _wipe_steps(graph, now, bare=True)
    await queue.wake()
    return wiped


async def _wipe_items(transaction: GraphTransaction, *, uids: list[str], now: datetime) -> int:
    """Drop what leads out of these items; return how many edges."""
    dreamt = dream_edges(await transaction.edges(uids, MADE, Direction.OUT))
    await drop_dream_edges(transaction, dreamt, now)
    return len(dreamt)


async def _wipe_steps(graph: Store, now: datetime, *, bare: bool = False) -> None:
    """Note that what dreams have made is wiped; ``bare``: of those alone that have none of it left."""
    async for page in scan_pages(graph, Steps(task=DREAM)):
        done = sorted((one for one in page if one.outcome is Outcome.DONE), key=lambda one: (one.tenant, one.context))
        for (tenant, context), some in groupby(done, key=lambda one: (one.tenant, one.context)):
            steps = [replace(one, outcome=Outcome.UNDONE, details={**one.details, WIPED: True}) for one in some]
            await graph.write(tenant, context, partial(_log, steps=steps, bare=bare))


async def _log(transaction: GraphTransaction, *, steps: Sequence[MaintenanceStep], bare: bool) -> None:
    uids = [step.subject for step in steps] if bare else []
    left = {edge.source for edge in dream_edges(await transaction.edges(uids, MADE, Direction.OUT))} if uids else set()
    for step in steps:
        if step.subject not in left:
            await transaction.log_step(step)


async def _wipe_tags(graph: Store, now: datetime) -> None:
    """Drop the tags that are left of what is retired; what somebody has given since is a tag as any other."""
    async for page in scan_pages(graph, Nodes(Label.CONCEPT), limit=_PAGE):
        made = sorted(filter(is_dreamt, page), key=lambda node: (node.tenant, node.context))
        for (tenant, context), some in groupby(made, key=lambda node: (node.tenant, node.context)):
            await graph.write(tenant, context, partial(_release, uids=[node.uid for node in some], now=now))


async def _release(transaction: GraphTransaction, *, uids: list[str], now: datetime) -> None:
    await release_tags(transaction, uids, now)
    kept = (await transaction.nodes(uids)).values()
    await transaction.put_nodes([_own(node) for node in kept])


def _own(node: Node) -> Node:
    return replace(node, metadata={name: value for name, value in node.metadata.items() if name != MAKER})
