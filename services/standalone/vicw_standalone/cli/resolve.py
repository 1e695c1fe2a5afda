"""``vicw sleep resolve``."""

from __future__ import annotations

from collections.abc import Mapping
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
    from vicw_sleep.resolve.merge_decision import DecidedPair

_INTO = "into"


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    app.command()(resolve)


def resolve(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be merged and what would not.")
    ] = False,
    threshold: Annotated[
        float | None,
        typer.Option(help="Minimum similarity of names. \\[default: VICW_RESOLVE_THRESHOLD]", min=0.85, max=1.0),
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Maximum number of pairs to judge. \\[default: all]", min=1)] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the last line.")] = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Merge entities that are stored under two names, where more than the names says that they are the same.

    A merge gives no viewer access to more items; `vicw sleep undo` undoes it. Other likely pairs are left for you to
    decide: see `vicw entities candidates`. A server runs this automatically (VICW_RESOLVE_SCHEDULE), so no server may
    have the data directory open; with --platform, services may run. After a kill, completed steps stay; run the command
    again to continue.
    """
    from vicw_sleep.resolve.job import resolver_of, rules_of

    settings = read_settings(data_dir=data_dir)
    rules = rules_of(settings.resolve)
    chosen = rules if threshold is None else replace(rules, threshold=threshold)

    def show_pair(decided: DecidedPair) -> None:
        first, second = decided.entities
        line = f"{decided.outcome.value}   {first.context}: {first.name} ({first.uid}) · {second.name} ({second.uid})"
        for text in (line, f"        {decided.reason}"):
            out.print(" ".join(harmless(text).split("\n")), markup=False, highlight=False, soft_wrap=True)

    async def work(memory: Memory) -> None:
        with progress_bar("comparing") as progress:
            job = replace(resolver_of(memory), progress=progress)
            job = job if quiet else replace(job, on_pair=show_pair)
            result = await job.run(chosen, now=now(), dry=dry_run, max_pairs=limit)
        merged, split = ("would merge", "would split") if dry_run else ("merged", "split")
        pairs = f"{result.merged} of {counted(result.pairs, 'likely pair')} of {counted(result.names, 'name')}"
        out.print(f"{merged} {pairs}" + (f", {split} {counted(result.split, 'pair')} again" if result.split else ""))

    run_maintenance(settings, platform, work, schedule="VICW_RESOLVE_SCHEDULE")


def ends_of(step: MaintenanceStep) -> tuple[str, str]:
    """Return the uids of the two entities that a step merged."""
    return step.subject, str(step.details.get(_INTO))


def describe_step(step: MaintenanceStep, names: Mapping[str, str]) -> str:
    """Return a line about the merge of a step."""
    source, target = (names.get(uid, uid) for uid in ends_of(step))
    return f"{source} into {target}"
