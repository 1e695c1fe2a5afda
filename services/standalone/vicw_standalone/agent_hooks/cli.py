"""``vicw hook``, ``vicw connect`` and ``vicw disconnect``."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from vicw_core.project_context import folder_context
from vicw_runtime.console import err, harmless, out
from vicw_standalone.agent_hooks.config_files import FileChange
from vicw_standalone.agent_hooks.connect import AgentConnection, ConnectedAgent
from vicw_standalone.agent_hooks.connect import connect as plan_connect
from vicw_standalone.agent_hooks.connect import disconnect as plan_disconnect

_Agent = Annotated[ConnectedAgent, typer.Argument(help="The agent.")]
_Project = Annotated[bool, typer.Option("--project", help="Change the files of this folder, not those of the user.")]
_Yes = Annotated[bool, typer.Option("--yes", "-y", help="Change the files without asking.")]
_Dry = Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")]


def register(app: typer.Typer) -> None:
    """Add the subcommands."""
    app.command(
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []},
    )(hook)
    app.command()(connect)
    app.command()(disconnect)


def hook(arguments: Annotated[list[str] | None, typer.Argument(show_default=False)] = None) -> None:
    """Answer a hook of a coding agent, whose event is on standard input."""
    from vicw_standalone.agent_hooks.hook import run

    run(arguments or [])


def connect(
    agent: _Agent,
    project: _Project = False,
    context: Annotated[
        str | None,
        typer.Option(help="Context of all sessions. \\[default: VICW_CONTEXT, or the name of the Git checkout]"),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(
            help="Address of the server, on the platform of the retrieval service. "
            "\\[default: VICW_RETRIEVE_URL, VICW_URL, or the server on this machine]"
        ),
    ] = None,
    capture: Annotated[bool, typer.Option("--capture/--no-capture", help="Store what is said, or only recall.")] = True,
    yes: _Yes = False,
    dry_run: _Dry = False,
) -> None:
    """Connect a coding agent: write its hooks, its MCP server and a skill, once you have seen what changes."""
    connection = AgentConnection(
        program=_running_program(),
        project=Path.cwd() if project else None,
        context=context,
        url=url,
        captures=capture,
    )
    is_of_folder = project or agent is ConnectedAgent.VSCODE
    if is_of_folder and not (context or os.environ.get("VICW_CONTEXT") or folder_context(str(Path.cwd()))):
        err.print("This folder is in no Git checkout, so it has no memory of its own: name one with --context")
    _apply(plan_connect(agent, connection), yes=yes, dry_run=dry_run)


def disconnect(agent: _Agent, project: _Project = False, yes: _Yes = False, dry_run: _Dry = False) -> None:
    """Remove what `vicw connect` has written, and any other hook that runs `vicw hook`."""
    _apply(plan_disconnect(agent, Path.cwd() if project else None), yes=yes, dry_run=dry_run)


def _running_program() -> str:
    """Return the path of the ``vicw`` that runs; agents may have another PATH, or another one on it."""
    running = Path(sys.argv[0]).absolute()
    return str(running) if running.stem == "vicw" and running.is_file() else shutil.which("vicw") or "vicw"


def _apply(changes: list[FileChange], *, yes: bool, dry_run: bool) -> None:
    if not changes:
        err.print("Nothing to change.")
        return
    for change in changes:
        out.print(harmless(change.diff()), markup=False, end="")
    if dry_run or not (yes or typer.confirm("Make these changes?", err=True)):
        return
    for change in changes:
        change.apply()
        err.print(f"{'removed' if change.after is None else 'wrote'} {change.path}", markup=False)
