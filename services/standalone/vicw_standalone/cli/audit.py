"""``vicw audit``: who changed and erased how much on a running server."""

from __future__ import annotations

import json
from datetime import UTC
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from vicw_runtime.console import err, harmless, out
from vicw_shared.clock import format_minute
from vicw_shared.wire.changes import AuditRecord
from vicw_standalone.terminal.pages import first
from vicw_standalone.terminal.server_client import UrlOption, server


def register(parent: typer.Typer) -> None:
    """Add the subcommand."""
    parent.command("audit")(list_changes)


def list_changes(
    limit: Annotated[int, typer.Option(help="Maximum number of changes.", min=1)] = 100,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    url: UrlOption = None,
) -> None:
    """List who changed and erased how much, the latest first. Needs a running server."""
    with server(url) as client:
        records = first(limit, lambda after, size: client.audit(after=after, limit=size), lambda page: page.records)
    if as_json:
        print(json.dumps([record.model_dump(mode="json") for record in records], indent=2))
    elif records:
        out.print(_table(records), soft_wrap=False)
    else:
        err.print("No changes", markup=False)


def _table(records: list[AuditRecord]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("at", no_wrap=True)
    table.add_column("change", no_wrap=True)
    table.add_column("count", justify="right", no_wrap=True)
    table.add_column("key", overflow="fold")
    for one in records:
        table.add_row(format_minute(one.at, UTC), escape(harmless(one.kind)), f"{one.count:,}", escape(one.key or "-"))
    return table
