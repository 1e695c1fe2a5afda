"""``vicw retract``."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import batched
from typing import Annotated

import typer

from vicw_runtime.console import harmless, out
from vicw_standalone.terminal.server_client import UrlOption, server

_IDS_AT_ONCE = 500


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    app.command()(retract)


def retract(
    ids: Annotated[list[str], typer.Argument(help="Ids of the items.", metavar="ID…")],
    context: Annotated[str, typer.Option(help="Context that the items were ingested into.")],
    ended_at: Annotated[
        datetime | None,
        typer.Option(help="When the items stopped being true, in UTC. \\[default: they never were]"),
    ] = None,
    url: UrlOption = None,
) -> None:
    """Retract items, with everything that rests on them alone.

    They are no longer found; questions about the past (known_at, and with --ended-at also as_of) still see them.
    Ingesting an id again restores it. Exit code 1 if an id is unknown.
    """
    until = ended_at.replace(tzinfo=UTC) if ended_at is not None else None
    with server(url) as client:
        answers = [
            client.retract(context=context, ids=tuple(batch), ended_at=until) for batch in batched(ids, _IDS_AT_ONCE)
        ]
    outcomes = [item for answer in answers for item in answer.items]
    for item in outcomes:
        out.print(f"{item.status.value:<9} {harmless(item.id)}", markup=False)
    if any(item.status.value == "unknown" for item in outcomes):
        raise typer.Exit(1)
