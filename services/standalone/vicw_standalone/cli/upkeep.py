"""``vicw sleep reconcile``, ``vicw sleep expire`` and ``vicw forget capacity``: scheduled maintenance, run by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, cast

import typer

from vicw_shared.clock import now
from vicw_shared.errors import UnavailableError
from vicw_shared.model import Label
from vicw_shared.text import counted
from vicw_standalone.cli.console import fail, harmless, out, progress_bar, read_settings
from vicw_standalone.cli.maintenance import run_item_removal, run_maintenance
from vicw_standalone.cli.models import DataDirOption, PlatformOption

if TYPE_CHECKING:
    from vicw_ingest.eviction.service import Eviction, EvictionReport, OnEvicted
    from vicw_shared.model import Node
    from vicw_shared.ports import MaintenanceStep
    from vicw_shared.progress import Progress
    from vicw_shared.settings import EvictionSettings
    from vicw_sleep.reconcile.model import ReconcileReport
    from vicw_standalone.cli.maintenance import ItemRemoval
    from vicw_standalone.undo import SleepCycle


_LISTED = 1000


def register(app: typer.Typer) -> None:
    """Add the subcommands."""
    app.command()(reconcile)
    app.command()(expire)


def reconcile(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be repaired.")] = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Compare the vector store with the graph, and repair the vector store.

    Passages whose point is missing or out of date are indexed again; points without a passage are removed. The graph is
    not changed; `vicw check` lists each difference. A server runs this automatically (VICW_SLEEP_RECONCILE_SCHEDULE,
    and at a start after an unclean stop), so no server may have the data directory open; with --platform, services may
    run.
    """

    async def work(sleep_cycle: SleepCycle) -> None:
        index = sleep_cycle.indexes.read_index
        if not index.model.has_vectors:
            out.print("there are no vectors to compare (VICW_EMBEDDER=none)")
            return
        if index.model != sleep_cycle.indexes.models.used:
            raise UnavailableError("embedding", sleep_cycle.indexes.behind or "the model in use has just changed")
        with progress_bar("comparing") as progress:
            result = await _compare(sleep_cycle, progress, dry=dry_run, alone=not platform)
        queued, removed = ("would be indexed again", "would be removed") if dry_run else ("indexed again", "removed")
        out.print(f"{counted(result.missing, 'point')} missing, {result.stale} out of date: {queued}")
        out.print(f"{counted(result.orphaned, 'point')} without a passage: {removed}")

    run_maintenance(read_settings(data_dir=data_dir), platform, work, schedule="VICW_SLEEP_RECONCILE_SCHEDULE")


async def _compare(sleep_cycle: SleepCycle, progress: Progress, *, dry: bool, alone: bool) -> ReconcileReport:
    from vicw_sleep.reconcile.discrepancies import PAGE
    from vicw_sleep.reconcile.model import ReconcileBookmark, ReconcileReport
    from vicw_sleep.reconcile.service import reconcile as compare

    graph, vectors = sleep_cycle.graph, sleep_cycle.indexes.read_index.vectors
    total = await graph.audit.count(Label.CHUNK)
    result, bookmark, side, pages = ReconcileReport(0, 0, 0, ReconcileBookmark()), ReconcileBookmark(), "", 0
    while result.next is not None:
        bookmark = result.next
        pages = pages + 1 if bookmark.side == side else 1
        side = bookmark.side
        page = await compare(graph.outbox, graph.audit, vectors, start=bookmark, pages=1, dry=dry, alone=alone)
        result = ReconcileReport(
            result.missing + page.missing, result.stale + page.stale, result.orphaned + page.orphaned, page.next
        )
        progress(side, min(pages * PAGE, total), total)
    return result


def expire(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be retired.")] = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Retire the items whose expires_at has passed, with everything that rests on them alone.

    Answers omit an item from that time on; retiring also removes its edges and closes gaps in its flow. Questions about
    the past still find it, and `vicw sleep log` lists it. A server runs this automatically
    (VICW_INGEST_EXPIRY_SECONDS), so no server may have the data directory open; with --platform, services may run.
    """

    async def work(removal: ItemRemoval) -> None:
        if not dry_run:
            out.print(f"{counted(await removal.expiry.drain(), 'item')} retired (expired)")
            return
        items = await removal.graph.expired(now(), limit=_LISTED + 1)
        for item in items[:_LISTED]:
            line = f"retire  {item.context} · [{item.source_id or item.uid}] {item.name} · expired {item.expires_at}"
            out.print(" ".join(harmless(line).split("\n")), markup=False, highlight=False, soft_wrap=True)
        count = counted(len(items), "item") if len(items) <= _LISTED else f"more than {_LISTED} items"
        out.print(f"{count} would be retired (expired)")

    run_item_removal(read_settings(data_dir=data_dir), platform, work, schedule="VICW_INGEST_EXPIRY_SECONDS")


def describe_step(step: MaintenanceStep, names: Mapping[str, str]) -> str:
    """Return a line about an expiry, with the item's name while the store still has it."""
    details = step.details
    end = str(details.get("expired", "?"))[:16].replace("T", " ")
    sources = cast(int | None, details.get("sources"))
    subject = (
        f"{counted(sources, 'Event')} of flow {details.get('flow', '?')}"
        if sources
        else f"[{details.get('item') or step.subject}]"
    )
    return " ".join(part for part in (subject, names.get(step.subject, ""), "· expired", end) if part)


_ALL = 1_000_000


def capacity(
    items: Annotated[
        int | None, typer.Option(help="Maximum number of items of a tenant. \\[default: VICW_EVICTION_ITEMS]", min=1)
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be erased.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the last line.")] = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Erase the items of least weight from tenants with more items than allowed.

    Protected items, and items stored or shown within VICW_EVICTION_DAYS, stay. Erased items cannot be restored. A
    server runs this automatically (VICW_EVICTION_SCHEDULE), so no server may have the data directory open; with
    --platform, services may run.
    """
    settings = read_settings(data_dir=data_dir)
    chosen = settings.eviction if items is None else settings.eviction.model_copy(update={"items": items})
    if not chosen.items:
        fail("no limit is set: name one with --items or VICW_EVICTION_ITEMS", code=2)

    def show_item(item: Node, weight: float) -> None:
        line = f"{item.context} · [{item.source_id or item.uid}] {item.name} · weight {weight:.3f}"
        out.print(" ".join(harmless(line).split("\n")), markup=False, highlight=False, soft_wrap=True)

    async def work(removal: ItemRemoval) -> None:
        report = await _evict(removal.capacity, chosen, dry_run, None if quiet else show_item)
        out.print(f"{counted(report.erased, 'item')} {'would be erased' if dry_run else 'erased'}")

    run_item_removal(settings, platform, work, schedule="VICW_EVICTION_SCHEDULE")


async def _evict(
    capacity: Eviction, chosen: EvictionSettings, dry: bool, show_item: OnEvicted | None
) -> EvictionReport:
    from vicw_ingest.eviction.job import policy_of

    capacity = replace(capacity, on_evicted=show_item) if show_item is not None else capacity
    report = await capacity.run(policy_of(chosen), now=now(), dry=dry, limit=_ALL if dry else chosen.batch)
    while report.more:
        report.add(await capacity.run(policy_of(chosen), now=now(), limit=chosen.batch))
    return report


def describe_eviction(step: MaintenanceStep) -> str:
    """Return a line about the items that a step evicted."""
    items = step.details.get("items")
    return f"{counted(items, 'item') if isinstance(items, int) else '? items'} evicted for lack of space"
