"""``vicw sleep consolidate``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from vicw_runtime.console import harmless, out
from vicw_runtime.operations.command import (
    DataDirOption,
    Place,
    PlatformOption,
    ServerOption,
    TenantOption,
    run_command,
)
from vicw_runtime.operations.remote import run_job_or_ask
from vicw_runtime.terminal.json_option import JsonOption
from vicw_shared.text import counted

if TYPE_CHECKING:
    from vicw_sleep.consolidation.api import JudgedBatch


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(consolidate)


def consolidate(
    ctx: typer.Context,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be consolidated and what would not.")
    ] = False,
    hours: Annotated[
        float | None,
        typer.Option(
            help="Only Events older than this many hours. \\[default: VICW_CONSOLIDATE_HOURS]", min=0, max=100_000
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(help="Maximum number of Macro-Events to create. \\[default: all]", min=1)
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Also try batches that were refused or undone before.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the last line.")] = False,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
    url: ServerOption = None,
) -> None:
    """Replace several old Events of a flow by one Macro-Event, where its summary loses nothing.

    The proof stays and is found as before; `vicw sleep undo` restores the Events. A server also runs this automatically
    (VICW_CONSOLIDATE_SCHEDULE). After a kill, completed steps stay; run the command again to continue.
    """
    from vicw_sleep.consolidation.api import CONSOLIDATE, ConsolidateRequest

    def show(batch: JudgedBatch) -> None:
        if not quiet:
            out.print(harmless(_line(batch)), markup=False, highlight=False)

    request = ConsolidateRequest(tenant=tenant, dry_run=dry_run, hours=hours, limit=limit, again=again)
    place = Place(data_dir, platform, url)
    done = run_job_or_ask(
        ctx,
        place,
        "consolidation",
        lambda: run_command(ctx, CONSOLIDATE, request, place, on_item=show, as_json=as_json),
        *("dry_run", "hours", "limit", "again", "tenant"),
        as_json=as_json,
    )
    if done is None or as_json:
        return
    verb = "would become" if dry_run else "became"
    refused = f", {counted(done.refused, 'batch', 'batches')} refused" if done.refused else ""
    skipped = f", {done.skipped} refused or undone before (--again tries them again)" if done.skipped else ""
    changed = f", {done.changed} changed meanwhile" if done.changed else ""
    consolidated = f"{counted(done.events, 'Event')} of {counted(done.flows, 'flow')} {verb}"
    nothing = not (done.macros or done.refused or done.skipped or done.changed)
    young = f"; only Events stored more than {done.hours:g} h ago are consolidated (--hours)" if nothing else ""
    out.print(f"{consolidated} {counted(done.macros, 'Macro-Event')}{refused}{skipped}{changed}{young}")


def _line(batch: JudgedBatch) -> str:
    place = f"{batch.context} · {batch.flow}"
    if batch.name is None:
        return f"leave        {place}: {batch.reason}"
    return f"consolidate  {place}: {counted(batch.events, 'Event')}: {batch.name}"
