"""``vicw timeline``: what a running server has stored in a context, in order of time."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from vicw_runtime.console import err
from vicw_runtime.terminal.completion import contexts as complete_contexts
from vicw_standalone.terminal.item_lines import print_items
from vicw_standalone.terminal.pages import first
from vicw_standalone.terminal.server_client import UrlOption, server


def register(parent: typer.Typer) -> None:
    """Add the subcommand."""
    parent.command("timeline")(show_timeline)


def show_timeline(
    context: Annotated[str, typer.Argument(help="The context.", autocompletion=complete_contexts)],
    happened: Annotated[
        bool,
        typer.Option("--happened", help="By the time that was given for it, and only what has one."),
    ] = False,
    flow: Annotated[str | None, typer.Option(help="Only this flow.")] = None,
    since: Annotated[datetime | None, typer.Option(help="Then or later, in UTC.")] = None,
    until: Annotated[datetime | None, typer.Option(help="Before then, in UTC.")] = None,
    descending: Annotated[bool, typer.Option("--desc", help="The last ones first.")] = False,
    limit: Annotated[int, typer.Option(help="Maximum number of items.", min=1)] = 100,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    url: UrlOption = None,
) -> None:
    """Show a context's items in order of time, the first ones first. Needs a running server."""
    query: dict[str, Any] = {
        "order": "happened" if happened else "told",
        "flow": flow,
        "since": since.replace(tzinfo=UTC) if since is not None else None,
        "until": until.replace(tzinfo=UTC) if until is not None else None,
        "direction": "desc" if descending else "asc",
    }
    with server(url) as client:
        items = first(
            limit,
            lambda cursor, size: client.timeline(context, **query, cursor=cursor, limit=size),
            lambda page: page.items,
        )
    if as_json:
        print(json.dumps([item.model_dump(mode="json") for item in items], indent=2, ensure_ascii=False))
    elif items:
        print_items(items, with_context=False)
    else:
        err.print("Nothing found. Remove filters", markup=False)
