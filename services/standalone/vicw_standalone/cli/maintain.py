"""``vicw check`` and ``vicw doctor``: checks of a store and its surroundings."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from vicw_client import VicwClient
from vicw_runtime.logs import configure_logs
from vicw_shared.errors import UnavailableError, VicwError
from vicw_shared.extensions import load_registries
from vicw_shared.settings import LogSettings
from vicw_shared.text import counted
from vicw_standalone.cli.console import fail, harmless, out, progress_bar, read_settings
from vicw_standalone.cli.models import DataDirOption, PlatformOption
from vicw_standalone.cli.retrieve import UrlOption, server
from vicw_standalone.settings import StandaloneSettings

if TYPE_CHECKING:
    from vicw_shared.progress import Progress
    from vicw_sleep.check.service import CheckReport
    from vicw_standalone.doctor import Finding

_MAX_QUESTIONS = 5


def register(app: typer.Typer) -> None:
    """Add the subcommands."""
    app.command("check")(check_command)
    app.command("doctor")(doctor_command)


def check_command(data_dir: DataDirOption = None, platform: PlatformOption = False) -> None:
    """Check the store's invariants.

    Every passage that the graph marks as indexed has its point and the reverse, payloads agree with the graph, chains
    are unbroken and in order, every node is in exactly one context, steps have no gaps, every edge is in the registry.
    The server must be stopped; on the platform, stop all writers: data that changes during the check may look broken,
    although each violation is checked twice.

    Exit code 1 and a list of at most 5000 violations if an invariant is broken; 2 if the check was impossible: the
    store is in use, missing or unreadable, its vector index is missing, or a setting is wrong.
    """
    try:
        settings = read_settings(data_dir=data_dir)
        configure_logs(LogSettings(level="warning"))
        with progress_bar("checking") as progress:
            report = asyncio.run(_check_platform(progress) if platform else _check(settings, progress))
    except VicwError as error:
        fail(f"could not check: {error.detail}", code=2)
    counts = ((report.nodes, "node"), (report.edges, "edge"), (report.points, "point"))
    out.print(f"{', '.join(counted(count, noun) for count, noun in counts)}, {report.waiting} waiting")
    for violation in report.violations:
        out.print(violation, markup=False)
    if report.unlisted:
        out.print(f"and {report.unlisted} more")
    if report.violations or report.unlisted:
        raise typer.Exit(1)
    out.print("clean")


def doctor_command(
    question: Annotated[
        list[str] | None,
        typer.Argument(help="With --graph: questions to ask. \\[default: names of entities of --context]"),
    ] = None,
    graph: Annotated[
        bool,
        typer.Option("--graph", help="Query a running server, and show what the graph channel adds to its answers."),
    ] = False,
    context: Annotated[str | None, typer.Option(help="With --graph: search only this context.")] = None,
    url: UrlOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Find problems of this machine, the settings and the stored data, and show how to fix them.

    Exit code 1 if there is a problem. Nothing is changed; a server may be running. --graph needs a running server.
    """
    from vicw_standalone.doctor import examine

    if not graph:
        if question or context is not None or url is not None:
            fail("a question, --context and --url need --graph", code=2)
        _print_findings(examine(read_settings(data_dir=data_dir)))
        return
    from vicw_standalone.doctor import graph as channel

    with server(url) as client:
        _print_findings(channel.examine(client, question or _names(client, context), context))


def _names(client: VicwClient, context: str | None) -> list[str]:
    """Return names of entities of a context as questions. Ends the command if there are none."""
    if context is None:
        fail("give a question, or a --context whose entities' names are the questions", code=2)
    names = [entity.name for entity in client.entities(context, limit=_MAX_QUESTIONS).entities]
    return names or fail(f"context {context!r} has no named entities: give a question", code=2)


def _print_findings(findings: Iterable[Finding]) -> None:
    from vicw_standalone.doctor import Severity

    marks = {Severity.FINE: "[green]ok[/]  ", Severity.NOTE: "[yellow]note[/]", Severity.PROBLEM: "[bold red]bad[/] "}
    has_problem = False
    for finding in findings:
        has_problem |= finding.verdict is Severity.PROBLEM
        fix = f". {finding.fix}" if finding.fix else ""
        out.print(f"{marks[finding.verdict]} {finding.what}: {escape(harmless(finding.detail + fix))}")
    if has_problem:
        raise typer.Exit(1)


async def _check_platform(progress: Progress) -> CheckReport:
    from vicw_sleep.check.service import check
    from vicw_standalone.platform_stores import open_stores

    async with open_stores() as (graph, vectors):
        return await check(graph.audit, graph.outbox, vectors, load_registries().edges, progress)


async def _check(settings: StandaloneSettings, progress: Progress) -> CheckReport:
    from vicw_sleep.check.service import check
    from vicw_standalone.offline import open_offline

    async with open_offline(settings) as (graph, vectors):
        model = (await graph.record.models()).used
        if vectors is None and (model is None or model.has_vectors):
            raise UnavailableError("vectors", "the index is missing. `vicw serve` or `vicw reindex` rebuilds it")
        return await check(graph.audit, graph.outbox, vectors, load_registries().edges, progress)
