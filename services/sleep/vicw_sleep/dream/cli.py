"""``vicw sleep dream`` and ``vicw sleep wipe``."""

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

if TYPE_CHECKING:
    from vicw_sleep.dream.api import DreamtItem


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(dream)
    app.command()(wipe)


def dream(
    ctx: typer.Context,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be added.")] = False,
    hours: Annotated[
        float | None,
        typer.Option(help="Only items older than this many hours. \\[default: VICW_DREAM_HOURS]", min=0, max=100_000),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(help="Maximum number of items to process. \\[default: all]", min=1)
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the last line.")] = False,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
    url: ServerOption = None,
) -> None:
    """Add auto-tags to items that have too few tags.

    Tags and texts from callers are not changed. `vicw sleep undo` undoes a step, `vicw sleep wipe` removes all
    auto-tags. A server also runs this automatically (VICW_DREAM_SCHEDULE). After a kill, completed steps stay; run the
    command again to continue.
    """
    from vicw_sleep.dream.api import DREAMING, DreamRequest

    def show(item: DreamtItem) -> None:
        if quiet:
            return
        print_line(f"{item.context} · [{item.id}] {item.excerpt}")
        for tag in item.tags:
            print_line(f"    tag      {tag.name} ({tag.certainty:.2f}, {tag.reason})")

    request = DreamRequest(tenant=tenant, dry_run=dry_run, hours=hours, limit=limit)
    place = Place(data_dir, platform, url)
    done = run_job_or_ask(
        ctx,
        place,
        "dream",
        lambda: run_command(ctx, DREAMING, request, place, progress="dreaming", on_item=show, as_json=as_json),
        *("dry_run", "hours", "limit", "tenant"),
        as_json=as_json,
    )
    if done is None or as_json:
        return
    verb = "would get" if dry_run else "got"
    out.print(f"{done.dreamt} of {counted(done.items, 'item')} {verb} {counted(done.tags, 'auto-tag')}")


def wipe(
    ctx: typer.Context,
    as_json: JsonOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
    url: ServerOption = None,
) -> None:
    """Remove all auto-tags of all tenants.

    The next scheduled run adds auto-tags again, except to items whose step was undone; VICW_DREAM_SCHEDULE=never
    prevents that.
    """
    from vicw_sleep.dream.api import WIPE, WipeRequest

    place = Place(data_dir, platform, url)
    done = run_command(ctx, WIPE, WipeRequest(), place, progress="wiping", as_json=as_json)
    if not as_json:
        out.print(f"{counted(done.removed, 'auto-tag')} removed")


def describe_tags(step: MaintenanceStep, names: Mapping[str, str]) -> str:
    """Return a line about the auto-tags that a step added."""
    tags = step.details.get("tags")
    return f"auto-tags {', '.join(map(str, tags))}" if isinstance(tags, list) and tags else ""
