"""``vicw reindex``, ``vicw check`` and ``vicw doctor``: looking after a data directory."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from vicw_shared.errors import UnavailableError, VicwError
from vicw_shared.extensions import load_registries
from vicw_shared.logs import configure_logs
from vicw_shared.settings import LogSettings
from vicw_standalone.cli.console import err, fail, out
from vicw_standalone.cli.models import DataDirOption, PlatformOption
from vicw_standalone.cli.settings import read_settings
from vicw_standalone.settings import Settings

if TYPE_CHECKING:
    from vicw_sleep.check import Report


def register(app: typer.Typer) -> None:
    """Add the subcommands."""
    app.command("reindex")(reindex_command)
    app.command("check")(check_command)
    app.command("doctor")(doctor_command)


def reindex_command(
    data_dir: DataDirOption = None,
    model: Annotated[str | None, typer.Option(help="Embed with this model from now on.")] = None,
) -> None:
    """Build the vector index anew from the graph: after its folder was lost, or for another model.

    The server must be stopped. Killed half-way, run it again, or start the server: it goes on.
    """
    settings = read_settings(data_dir=data_dir, model=model)
    from vicw_standalone.offline import require_store

    require_store(settings.storage.data_dir)
    configure_logs(LogSettings(level="warning"))
    count, model_name = asyncio.run(_reindex(settings))
    out.print(f"{count} passages embedded anew with {model_name}", markup=False)


async def _reindex(settings: Settings) -> tuple[int, str]:
    from vicw_standalone.wiring import Standalone

    standalone = Standalone(settings)
    await standalone.open(rebuild=True)
    bar = Progress("embedding", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=err, transient=True)
    try:
        identity = await standalone.embedder.identity()
        total = (await standalone.graph.backlog()).waiting
        with bar:
            task = bar.add_task("passages", total=total)
            await standalone.indexer.drain(lambda settled: bar.advance(task, settled))
        return total, identity.name
    finally:
        await standalone.close()


def check_command(data_dir: DataDirOption = None, platform: PlatformOption = False) -> None:
    """Prove the store's invariants.

    Points agree with what the graph marks as indexed and the reverse, chains are unbroken and in order, every
    node is in exactly one context, steps are gap-free, no edge is outside the registry. The server must be stopped;
    of the platform, whatever writes: what changes meanwhile may look broken.

    Exit code 1 and the list of violations if any is broken; 2 if it could not check: the store is in use, there is
    none, its vector index is missing, it cannot be read, a setting is wrong.
    """
    try:
        settings = read_settings(data_dir=data_dir)
        configure_logs(LogSettings(level="warning"))
        report = asyncio.run(_check_platform() if platform else _check(settings))
    except VicwError as error:
        fail(f"could not check: {error.detail}", code=2)
    out.print(f"{report.nodes} nodes, {report.edges} edges, {report.points} points, {report.waiting} waiting")
    for violation in report.violations:
        out.print(violation, markup=False)
    if report.violations:
        raise typer.Exit(1)
    out.print("clean")


def doctor_command(data_dir: DataDirOption = None) -> None:
    """Say what is wrong with this machine, these settings or what is stored, and what to do.

    Exit code 1 if anything is. It only looks; a server may be running.
    """
    from vicw_standalone.doctor import Verdict, examine

    marks = {Verdict.FINE: "[green]ok[/]  ", Verdict.NOTE: "[yellow]note[/]", Verdict.PROBLEM: "[bold red]bad[/] "}
    wrong = False
    for finding in examine(read_settings(data_dir=data_dir)):
        wrong |= finding.verdict is Verdict.PROBLEM
        fix = f". {finding.fix}" if finding.fix else ""
        out.print(f"{marks[finding.verdict]} {finding.what}: {escape(finding.detail + fix)}")
    if wrong:
        raise typer.Exit(1)


async def _check_platform() -> Report:
    from vicw_sleep.check import check
    from vicw_standalone.apart import open_stores

    async with open_stores() as (graph, vectors):
        return await check(graph, graph, vectors, load_registries().edges)


async def _check(settings: Settings) -> Report:
    from vicw_sleep.check import check
    from vicw_standalone.offline import open_offline

    async with open_offline(settings) as (graph, vectors):
        if vectors is None:
            raise UnavailableError("vectors", "the index is missing. `vicw reindex` rebuilds it")
        return await check(graph, graph, vectors, load_registries().edges)
