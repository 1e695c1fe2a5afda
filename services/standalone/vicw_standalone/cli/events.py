"""``vicw events``: what happens to what a running server has stored, as it happens."""

from __future__ import annotations

from datetime import UTC
from typing import Annotated

import typer
from rich.markup import escape

from vicw_runtime.console import harmless, out
from vicw_shared.clock import format_minute
from vicw_shared.wire.events import Event
from vicw_standalone.terminal.server_client import UrlOption, server


def register(parent: typer.Typer) -> None:
    """Add the subcommand."""
    parent.command("events")(watch_events)


def watch_events(
    after: Annotated[str | None, typer.Option(help="Id of an event: begin behind it. \\[default: now]")] = None,
    no_follow: Annotated[bool, typer.Option("--no-follow", help="End after what there is since --after.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print each event as a line of JSON.")] = False,
    url: UrlOption = None,
) -> None:
    """Watch what is stored, changed and forgotten, until Ctrl-C. Needs a running server."""
    with server(url) as client:
        for event in client.events(after=after, follow=not no_follow):
            if as_json:
                print(event.model_dump_json(), flush=True)
            else:
                out.print(_line(event))


def _line(event: Event) -> str:
    many = f" ({event.count:,})" if event.count != 1 else ""
    where = "  ".join(part for part in (event.uid, event.context) if part is not None)
    return f"[dim]{format_minute(event.at, UTC)}[/]  {escape(harmless(f'{event.kind}{many}  {where}'))}"
