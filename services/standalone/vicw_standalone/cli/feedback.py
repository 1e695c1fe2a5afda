"""``vicw feedback``: what was said of items on a running server."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from vicw_runtime.console import err, harmless, out
from vicw_runtime.terminal.completion import contexts as complete_contexts
from vicw_shared.clock import format_minute
from vicw_shared.wire.feedback import MAX_LISTED, ListedFeedback, Verdict
from vicw_standalone.terminal.pages import first
from vicw_standalone.terminal.server_client import UrlOption, server


def register(parent: typer.Typer) -> None:
    """Add the subcommand."""
    parent.command("feedback")(list_feedback)


def list_feedback(
    context: Annotated[str | None, typer.Argument(help="Only this context.", autocompletion=complete_contexts)] = None,
    verdict: Annotated[Verdict | None, typer.Option(help="Only items of which this was said.")] = None,
    limit: Annotated[int, typer.Option(help="Maximum number of items.", min=1)] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    url: UrlOption = None,
) -> None:
    """List what was said of items, the item judged last first. Needs a running server.

    `vicw items feedback` says that an item was useful or wrong.
    """
    with server(url) as client:
        items = first(
            limit,
            lambda after, size: client.list_feedback(context=context, verdict=verdict, after=after, limit=size),
            lambda page: page.items,
            most=MAX_LISTED,
        )
    if as_json:
        print(json.dumps([item.model_dump(mode="json") for item in items], indent=2, ensure_ascii=False))
    elif items:
        out.print(_table(items), soft_wrap=False)
    else:
        err.print("Nothing was said of an item", markup=False)


def _table(items: Sequence[ListedFeedback]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("at", no_wrap=True)
    table.add_column("uid", no_wrap=True)
    table.add_column("context", overflow="fold")
    table.add_column("useful", justify="right", no_wrap=True)
    table.add_column("wrong", justify="right", no_wrap=True)
    table.add_column("last question", overflow="fold")
    for one in items:
        question = harmless(" ".join(one.latest[0].query.split())) if one.latest else "-"
        context, at = escape(harmless(one.context)), format_minute(one.at, UTC)
        table.add_row(at, one.uid, context, str(one.useful), str(one.wrong), escape(question))
    return table
