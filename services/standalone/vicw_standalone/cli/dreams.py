"""``vicw sleep dream`` and ``vicw sleep wipe``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from vicw_runtime.operations.console import harmless, out, progress_bar
from vicw_shared.clock import now
from vicw_shared.ports import MaintenanceStep
from vicw_shared.text import counted
from vicw_standalone.cli.maintenance import run_maintenance
from vicw_standalone.cli.models import DataDirOption, PlatformOption
from vicw_standalone.settings import read_settings

if TYPE_CHECKING:
    from vicw_runtime.operations import Memory
    from vicw_sleep.dream.commit import DreamResult
    from vicw_sleep.mirror.atoms import Atom

_SCHEDULE = "VICW_DREAM_SCHEDULE"
_EXCERPT_CHARS = 60


def register(app: typer.Typer) -> None:
    """Add the subcommands."""
    app.command()(dream)
    app.command()(wipe)


def dream(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be added.")] = False,
    hours: Annotated[
        float | None,
        typer.Option(help="Only items older than this many hours. \\[default: VICW_DREAM_HOURS]", min=0, max=100_000),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(help="Maximum number of items to process. \\[default: all]", min=1)
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the last line.")] = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Add auto-tags to items that have too few tags.

    Tags and texts from callers are not changed. `vicw sleep undo` undoes a step, `vicw sleep wipe` removes all
    auto-tags. A server runs this automatically (VICW_DREAM_SCHEDULE), so no server may have the data directory open;
    with --platform, services may run. After a kill, completed steps stay; run the command again to continue.
    """
    from vicw_sleep.dream.job import dreamer_of, rules_of

    settings = read_settings(data_dir=data_dir)
    chosen = settings.dream if hours is None else settings.dream.model_copy(update={"hours": hours})

    def show_item(result: DreamResult) -> None:
        lines = [f"{result.atom.item.context} · [{result.atom.id}] {_excerpt(result.atom)}"]
        lines += [f"    tag      {tag.name} ({tag.certainty:.2f}, {tag.reason})" for tag in result.tags]
        for line in lines:
            out.print(" ".join(harmless(line).split("\n")), markup=False, highlight=False, soft_wrap=True)

    async def work(memory: Memory) -> None:
        with progress_bar("dreaming") as progress:
            job = replace(dreamer_of(memory), progress=progress)
            job = job if quiet else replace(job, on_item=show_item)
            result = await job.run(rules_of(chosen), now=now(), dry=dry_run, max_items=limit)
        verb = "would get" if dry_run else "got"
        out.print(f"{result.dreamt} of {counted(result.items, 'item')} {verb} {counted(result.tags, 'auto-tag')}")

    run_maintenance(settings, platform, work, schedule=_SCHEDULE)


def wipe(data_dir: DataDirOption = None, platform: PlatformOption = False) -> None:
    """Remove all auto-tags of all tenants. No server may have the data directory open.

    The next scheduled run adds auto-tags again, except to items whose step was undone; VICW_DREAM_SCHEDULE=never
    prevents that.
    """
    from vicw_sleep.dream.wipe import wipe as wipe_all

    settings = read_settings(data_dir=data_dir)

    async def work(memory: Memory) -> None:
        with progress_bar("wiping") as progress:
            count = await wipe_all(memory.graph, memory.queue, now=now(), progress=progress)
        out.print(f"{counted(count, 'auto-tag')} removed")

    run_maintenance(settings, platform, work, schedule=None)


def _excerpt(atom: Atom) -> str:
    """Return the start of an item's text: the name of a turn is only its speaker."""
    text = " ".join((atom.item.title or atom.text).split())
    text = f"{atom.item.speaker}: {text}" if atom.item.speaker and not atom.item.is_macro else text
    return text if len(text) <= _EXCERPT_CHARS else f"{text[: _EXCERPT_CHARS - 1]}…"


def describe_step(step: MaintenanceStep) -> str:
    """Return a line about the auto-tags that a step added."""
    tags = step.details.get("tags")
    return f"auto-tags {', '.join(map(str, tags))}" if isinstance(tags, list) and tags else ""
