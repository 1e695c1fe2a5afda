"""Remove everything that dreams have added: the store is as if there had been none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import groupby

from vicw_core.graph.dreams import MADE, MAKER, dream_edges, drop_dream_edges, is_dreamt, release_tags
from vicw_core.graph.edge_factory import DREAM
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
    """Delete all edges and tags of dreams, of all tenants; return the number of edges.

    An item whose dream was undone gets no other one; all other items may. Repeat the call after an interruption to
    complete it.
    """
    # First the steps: an item without its edges, but with its step, would never get a dream again.
    await _wipe_steps(graph, now)
    wiped = processed = 0
    async for _, page in pages(graph):
        items = sorted((whole.item for whole in page), key=lambda item: item.context)
        for context, group in groupby(items, key=lambda item: item.context):
            uids = [item.uid for item in group]
            wiped += await graph.write(page[0].item.tenant, context, partial(_wipe_items, uids=uids, now=now))
        processed += len(page)
        progress("wiping", processed, 0)
    await _wipe_tags(graph, now)
    # Steps again: another run may have added edges meanwhile, some of which were deleted with the others.
    await _wipe_steps(graph, now, bare=True)
    await queue.wake()
    return wiped


async def _wipe_items(transaction: GraphTransaction, *, uids: list[str], now: datetime) -> int:
    """Delete the dream edges out of these items; return how many."""
    dreamt = dream_edges(await transaction.edges(uids, MADE, Direction.OUT))
    await drop_dream_edges(transaction, dreamt, now)
    return len(dreamt)


async def _wipe_steps(graph: Store, now: datetime, *, bare: bool = False) -> None:
    """Mark dream steps as wiped; ``bare``: only those whose items have no dream edges left."""
    async for page in scan_pages(graph, Steps(task=DREAM)):
        done = sorted((one for one in page if one.outcome is Outcome.DONE), key=lambda one: (one.tenant, one.context))
        for (tenant, context), group in groupby(done, key=lambda one: (one.tenant, one.context)):
            steps = [replace(one, outcome=Outcome.UNDONE, details={**one.details, WIPED: True}) for one in group]
            await graph.write(tenant, context, partial(_log, steps=steps, bare=bare))


async def _log(transaction: GraphTransaction, *, steps: Sequence[MaintenanceStep], bare: bool) -> None:
    uids = [step.subject for step in steps] if bare else []
    still_dreamt = (
        {edge.source for edge in dream_edges(await transaction.edges(uids, MADE, Direction.OUT))} if uids else set()
    )
    for step in steps:
        if step.subject not in still_dreamt:
            await transaction.log_step(step)


async def _wipe_tags(graph: Store, now: datetime) -> None:
    """Delete the dreams' tags that remain; a tag that a caller has used since becomes an ordinary one."""
    async for page in scan_pages(graph, Nodes(Label.CONCEPT), limit=_PAGE):
        auto_tags = sorted(filter(is_dreamt, page), key=lambda node: (node.tenant, node.context))
        for (tenant, context), group in groupby(auto_tags, key=lambda node: (node.tenant, node.context)):
            await graph.write(tenant, context, partial(_release, uids=[node.uid for node in group], now=now))


async def _release(transaction: GraphTransaction, *, uids: list[str], now: datetime) -> None:
    await release_tags(transaction, uids, now)
    remaining = (await transaction.nodes(uids)).values()
    await transaction.put_nodes([_without_maker(node) for node in remaining])


def _without_maker(node: Node) -> Node:
    return replace(node, metadata={name: value for name, value in node.metadata.items() if name != MAKER})
