"""``vicw sleep resolve``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from vicw_runtime.console import out, print_line
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
from vicw_shared.ports import MaintenanceStep
from vicw_shared.text import counted
from vicw_sleep.resolve.model import ends_of

if TYPE_CHECKING:
    from vicw_sleep.resolve.api import JudgedPair


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(resolve)


def resolve(
    ctx: typer.Context,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be merged and what would not.")
    ] = False,
    threshold: Annotated[
        float | None,
        typer.Option(help="Minimum similarity of names. \\[default: VICW_RESOLVE_THRESHOLD]", min=0.85, max=1.0),
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Maximum number of pairs to judge. \\[default: all]", min=1)] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the last line.")] = False,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
    url: ServerOption = None,
) -> None:
    """Merge entities that are stored under two names, where more than the names says that they are the same.

    A merge gives no viewer access to more items; `vicw sleep undo` undoes it. Other likely pairs are left for you to
    decide: see `vicw entities candidates`. A server also runs this automatically (VICW_RESOLVE_SCHEDULE). After a kill,
    completed steps stay; run the command again to continue.
    """
    from vicw_sleep.resolve.api import RESOLVING, ResolveRequest

    def show(pair: JudgedPair) -> None:
        if quiet:
            return
        first, second = pair.first, pair.second
        print_line(f"{pair.outcome}   {pair.context}: {first.name} ({first.uid}) · {second.name} ({second.uid})")
        print_line(f"        {pair.reason}")

    request = ResolveRequest(tenant=tenant, dry_run=dry_run, threshold=threshold, limit=limit)
    place = Place(data_dir, platform, url)
    done = run_job_or_ask(
        ctx,
        place,
        "resolve",
        lambda: run_command(ctx, RESOLVING, request, place, progress="comparing", on_item=show, as_json=as_json),
        *("dry_run", "threshold", "limit", "tenant"),
        as_json=as_json,
    )
    if done is None or as_json:
        return
    merged, split = ("would merge", "would split") if dry_run else ("merged", "split")
    pairs = f"{done.merged} of {counted(done.pairs, 'likely pair')} of {counted(done.names, 'name')}"
    out.print(f"{merged} {pairs}" + (f", {split} {counted(done.split, 'pair')} again" if done.split else ""))


def describe_merge(step: MaintenanceStep, names: Mapping[str, str]) -> str:
    """Return a line about the merge of a step."""
    source, target = (names.get(uid, uid) for uid in ends_of(step))
    return f"{source} into {target}"
