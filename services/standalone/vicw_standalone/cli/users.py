"""``vicw users``: who speaks in what a running server has stored."""

from __future__ import annotations

import json
from datetime import UTC
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from vicw_runtime.console import err, harmless, out
from vicw_runtime.terminal.completion import contexts as complete_contexts
from vicw_shared.clock import format_minute
from vicw_shared.wire.people import UserSummary
from vicw_standalone.terminal.pages import first
from vicw_standalone.terminal.server_client import UrlOption, server


def register(parent: typer.Typer) -> None:
    """Add the subcommand."""
    parent.command("users")(list_users)


def list_users(
    prefix: Annotated[str | None, typer.Argument(help="Start of their ids or names, in its exact spelling.")] = None,
    context: Annotated[
        str | None, typer.Option(help="Count only this context.", autocompletion=complete_contexts)
    ] = None,
    limit: Annotated[int, typer.Option(help="Maximum number of users.", min=1)] = 100,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    url: UrlOption = None,
) -> None:
    """List users by id, then speakers without one, with what is stored of each. Needs a running server."""
    with server(url) as client:
        users = first(
            limit,
            lambda after, size: client.users(prefix=prefix, context=context, after=after, limit=size),
            lambda page: page.users,
        )
    if as_json:
        print(json.dumps([user.model_dump(mode="json") for user in users], indent=2, ensure_ascii=False))
    elif users:
        out.print(_table(users), soft_wrap=False)
    else:
        err.print("Nobody found", markup=False)


def _table(users: list[UserSummary]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("user", overflow="fold")
    table.add_column("speaks as", overflow="fold")
    for name in ("items", "contexts"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("first", "last"):
        table.add_column(name, no_wrap=True)
    for one in users:
        first, last = (format_minute(at, UTC) for at in (one.first, one.last))
        names = escape(harmless(", ".join(one.speakers)))
        table.add_row(escape(harmless(one.user or "")), names, f"{one.items:,}", f"{one.contexts:,}", first, last)
    return table
