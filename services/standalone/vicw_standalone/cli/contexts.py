"""``vicw contexts``: what a running server has stored, by context."""

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
from vicw_shared.wire.items import ContextSummary
from vicw_standalone.terminal.pages import first
from vicw_standalone.terminal.server_client import UrlOption, server


def register(parent: typer.Typer) -> None:
    """Add the subcommand."""
    parent.command("contexts")(list_contexts)


def list_contexts(
    prefix: Annotated[
        str | None,
        typer.Argument(help="Start of their names, in its exact spelling.", autocompletion=complete_contexts),
    ] = None,
    limit: Annotated[int, typer.Option(help="Maximum number of contexts.", min=1)] = 100,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    url: UrlOption = None,
) -> None:
    """List contexts, with what each holds. Needs a running server."""
    with server(url) as client:
        contexts = first(
            limit,
            lambda after, size: client.contexts(prefix=prefix, after=after, limit=size),
            lambda page: page.contexts,
        )
    if as_json:
        print(json.dumps([context.model_dump(mode="json") for context in contexts], indent=2, ensure_ascii=False))
    elif contexts:
        out.print(_table(contexts), soft_wrap=False)
    else:
        err.print("No contexts", markup=False)


def _table(contexts: list[ContextSummary]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("context", overflow="fold")
    for name in ("items", "characters"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("domains", overflow="fold")
    for name in ("first", "last"):
        table.add_column(name, no_wrap=True)
    for one in contexts:
        first, last = (format_minute(at, UTC) for at in (one.first, one.last))
        domains = ", ".join(escape(harmless(domain)) for domain in one.domains)
        table.add_row(escape(harmless(one.context)), f"{one.items:,}", f"{one.chars:,}", domains, first, last)
    return table
