"""``vicw mcp``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer

from vicw_core.project_context import folder_context
from vicw_standalone.mcp.bridge import StdioBridge
from vicw_standalone.mcp.server_finder import ServerFinder


def register(parent: typer.Typer) -> None:
    """Add the subcommand."""
    parent.command("mcp")(mcp)


def mcp(
    context: Annotated[
        str | None,
        typer.Option(
            help="Context of the memory. \\[default: VICW_CONTEXT, or the name of the Git checkout around the folder]"
        ),
    ] = None,
    folder: Annotated[
        str | None,
        typer.Option(
            envvar="CLAUDE_PROJECT_DIR",
            show_envvar=False,
            help="Folder of the project. \\[default: CLAUDE_PROJECT_DIR (of Claude Code), or the working directory]",
        ),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(
            help="Address of the server. \\[default: VICW_RETRIEVE_URL, VICW_URL, or the server of the data directory]"
        ),
    ] = None,
    start: Annotated[
        bool, typer.Option(help="Start a server if none runs. It goes on; how to stop it is told on standard error.")
    ] = True,
) -> None:
    """Connect an agent: an MCP server on standard input and output.

    It passes on what the agent sends to the running server, and opens no store itself, so any number of agents may
    share one memory. Outside of a Git checkout, and without a context, nothing is read or written but what a call
    names. A key for a server that requires one is taken from VICW_API_KEY.
    """
    place = Path(folder or "").absolute()  # where a program knows no ${workspaceFolder}, that is no folder
    scope = context or os.environ.get("VICW_CONTEXT") or (folder_context(str(place)) if place.is_dir() else "")
    headers = {"VICW-Context": quote(scope, safe="")} if scope else {"VICW-Context-Required": "yes"}
    if key := os.environ.get("VICW_API_KEY", "").strip():
        headers["Authorization"] = f"Bearer {key}"
    StdioBridge(ServerFinder(url, may_start=start), headers, sys.stdout.buffer).run(sys.stdin.buffer)
