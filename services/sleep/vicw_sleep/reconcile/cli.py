"""``vicw sleep reconcile``."""

from __future__ import annotations

from typing import Annotated

import typer

from vicw_runtime.console import out
from vicw_runtime.operations.command import DataDirOption, Place, PlatformOption, ServerOption, run_command
from vicw_runtime.terminal.json_option import JsonOption
from vicw_shared.text import counted


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(reconcile)


def reconcile(
    ctx: typer.Context,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be repaired.")] = False,
    as_json: JsonOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
    url: ServerOption = None,
) -> None:
    """Compare the vector store with the graph, and repair the vector store.

    Passages whose point is missing or out of date are indexed again; points without a passage are removed. The graph is
    not changed; `vicw check` lists each difference. A server also runs this automatically
    (VICW_SLEEP_RECONCILE_SCHEDULE, and at a start after an unclean stop).
    """
    from vicw_sleep.reconcile.api import RECONCILE, ReconcileRequest

    request = ReconcileRequest(dry_run=dry_run)
    place = Place(data_dir, platform, url)
    done = run_command(ctx, RECONCILE, request, place, progress="comparing", as_json=as_json)
    if as_json:
        return
    if not done.vectors:
        out.print("there are no vectors to compare (VICW_EMBEDDER=none)")
        return
    queued, removed = ("would be indexed again", "would be removed") if dry_run else ("indexed again", "removed")
    out.print(f"{counted(done.missing, 'point')} missing, {done.stale} out of date: {queued}")
    out.print(f"{counted(done.orphaned, 'point')} without a passage: {removed}")
