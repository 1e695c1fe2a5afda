"""``vicw doctor``: checks of a machine, its settings and a server."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from vicw_client import VicwClient
from vicw_runtime.console import fail, harmless, out
from vicw_runtime.operations.command import DataDirOption
from vicw_runtime.terminal.completion import contexts as complete_contexts
from vicw_runtime.terminal.json_option import JsonOption
from vicw_standalone.settings import read_settings
from vicw_standalone.terminal.server_client import server

if TYPE_CHECKING:
    from vicw_standalone.doctor.findings import Finding

_MAX_QUESTIONS = 5


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    app.command()(doctor)


def doctor(
    question: Annotated[
        list[str] | None,
        typer.Argument(help="With --graph: questions to ask. \\[default: names of entities of --context]"),
    ] = None,
    graph: Annotated[
        bool,
        typer.Option("--graph", help="Query a running server, and show what the graph channel adds to its answers."),
    ] = False,
    context: Annotated[
        str | None, typer.Option(help="With --graph: search only this context.", autocompletion=complete_contexts)
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(
            help="With --graph: address of the server. "
            "\\[default: VICW_URL, the one that has the data directory open, or http://127.0.0.1:8080]"
        ),
    ] = None,
    as_json: JsonOption = False,
    data_dir: DataDirOption = None,
) -> None:
    """Find problems of this machine, the settings and the stored data, and show how to fix them.

    Exit code 1 if there is a problem. Nothing is changed; a server may be running. --graph needs a running server.
    """
    from vicw_standalone.doctor.service import examine

    if not graph:
        if question or context is not None or url is not None:
            fail("a question, --context and --url need --graph", code=2)
        _print_findings(examine(read_settings(data_dir=data_dir)), as_json=as_json)
        return
    from vicw_standalone.doctor import graph as channel

    with server(url or _recorded_address(data_dir)) as client:
        _print_findings(channel.examine(client, question or _names(client, context), context), as_json=as_json)


def _recorded_address(data_dir: Path | None) -> str | None:
    """Return the address of the server that has the data directory open; None if there is none, or VICW_URL is set."""
    from vicw_stores.data_dir import DataDir

    return (
        None if os.environ.get("VICW_URL") else DataDir.read_address(read_settings(data_dir=data_dir).storage.data_dir)
    )


def _names(client: VicwClient, context: str | None) -> list[str]:
    """Return names of entities of a context as questions. Ends the command if there are none."""
    if context is None:
        fail("give a question, or a --context whose entities' names are the questions", code=2)
    names = [entity.name for entity in client.entities(context, limit=_MAX_QUESTIONS).entities]
    return names or fail(f"context {context!r} has no named entities: give a question", code=2)


def _print_findings(findings: Iterable[Finding], *, as_json: bool) -> None:
    from vicw_standalone.doctor.findings import Severity

    marks = {Severity.FINE: "[green]ok[/]  ", Severity.NOTE: "[yellow]note[/]", Severity.PROBLEM: "[bold red]bad[/] "}
    has_problem = False
    if as_json:
        findings = list(findings)
        rows = [{**asdict(finding), "verdict": finding.verdict.name.lower()} for finding in findings]
        print(json.dumps(rows, indent=2, ensure_ascii=False))
    for finding in findings:
        has_problem |= finding.verdict is Severity.PROBLEM
        if as_json:
            continue
        fix = f". {finding.fix}" if finding.fix else ""
        out.print(f"{marks[finding.verdict]} {finding.what}: {escape(harmless(finding.detail + fix))}")
    if has_problem:
        raise typer.Exit(1)
