"""``vicw sleep expire`` and ``vicw forget capacity``: scheduled maintenance, run by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, cast

import typer

from vicw_runtime.operations.console import fail, harmless, out
from vicw_shared.clock import now
from vicw_shared.text import counted
from vicw_sleep.reconcile import cli as reconcile
from vicw_standalone.cli.maintenance import run_item_removal
from vicw_standalone.cli.models import DataDirOption, PlatformOption
from vicw_standalone.settings import read_settings

if TYPE_CHECKING:
    from vicw_ingest.eviction.service import Eviction, EvictionReport, OnEvicted
    from vicw_shared.model import Node
    from vicw_shared.ports import MaintenanceStep
    from vicw_shared.settings import EvictionSettings
    from vicw_standalone.cli.maintenance import ItemRemoval


_LISTED = 1000


def register(app: typer.Typer) -> None:
    """Add the subcommands."""
    reconcile.register(app)
    app.command()(expire)


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
