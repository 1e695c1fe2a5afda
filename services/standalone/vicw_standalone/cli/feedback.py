"""``vicw feedback``: what was said of items on a running server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC
from typing import Annotated

import typer

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
        for line in (line for item in items for line in _lines(item)):
            out.print(harmless(line), markup=False, highlight=False, soft_wrap=True)
    else:
        err.print("Nothing was said of an item", markup=False)


def _lines(item: ListedFeedback) -> Iterator[str]:
    """Yield a line for an item, and one for each of the latest questions that it was judged for."""
    at = format_minute(item.at, UTC)
    yield f"{at}  {item.useful} useful, {item.wrong} wrong  {item.context}  {item.uid}"
    for one in item.latest:
        yield f"    {one.verdict.value:<6}  {' '.join(one.query.split())}"
