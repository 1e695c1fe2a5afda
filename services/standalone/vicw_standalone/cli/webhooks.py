"""``vicw webhooks``: addresses that a running server sends events to."""

from __future__ import annotations

import json
from datetime import UTC
from typing import Annotated

import typer
from pydantic import BaseModel
from rich.markup import escape
from rich.table import Table

from vicw_runtime.console import err, harmless, out
from vicw_runtime.terminal.json_option import JsonOption, print_json
from vicw_shared.clock import format_minute
from vicw_shared.wire.webhooks import MadeWebhook
from vicw_standalone.terminal.server_client import UrlOption, server

app = typer.Typer(
    help="Have events sent to an address, and send again what it did not take. Needs a running server.",
    no_args_is_help=True,
)
WebhookArgument = Annotated[str, typer.Argument(help="Id of the webhook, as `vicw webhooks list` shows it.")]


def register(parent: typer.Typer) -> None:
    """Add the subcommands."""
    parent.add_typer(app, name="webhooks")


@app.command()
def create(
    address: Annotated[str, typer.Argument(help="Address of the receiver: http or https.")],
    kind: Annotated[list[str] | None, typer.Option(help="Kind of event to send; may be repeated. Default: all")] = None,
    as_json: JsonOption = False,
    url: UrlOption = None,
) -> None:
    """Have events sent to an address, and print the secret that signs them. It is shown only now."""
    with server(url) as client:
        made = client.create_webhook(address, kinds=kind or ())
    _print_secret(made, as_json=as_json)


@app.command()
def rotate(
    webhook: WebhookArgument,
    overlap_hours: Annotated[
        float, typer.Option(help="Hours for which the old secret signs as well.", min=0, max=168)
    ] = 24,
    as_json: JsonOption = False,
    url: UrlOption = None,
) -> None:
    """Give a webhook a new secret, and print it. It is shown only now."""
    with server(url) as client:
        made = client.rotate_webhook(webhook, overlap_hours=overlap_hours)
    _print_secret(made, as_json=as_json)


@app.command("list")
def list_webhooks(as_json: JsonOption = False, url: UrlOption = None) -> None:
    """List webhooks, with how many messages wait and how many no try delivered."""
    with server(url) as client:
        hooks = client.webhooks().webhooks
    table = Table("id", "address", "kinds", "waiting", "dead", "last error", box=None, pad_edge=False)
    for one in hooks:
        kinds = ", ".join(one.kinds) or "all"
        table.add_row(one.id, _shown(one.url), _shown(kinds), f"{one.waiting}", f"{one.dead}", _shown(one.error))
    _print(hooks, table, "No webhooks", as_json=as_json)


@app.command()
def delete(webhook: WebhookArgument, as_json: JsonOption = False, url: UrlOption = None) -> None:
    """Remove a webhook, with what waits for it."""
    with server(url) as client:
        client.delete_webhook(webhook)
    if as_json:
        print(json.dumps({"id": webhook}))
    else:
        out.print("Removed", markup=False)


@app.command()
def dead(webhook: WebhookArgument, as_json: JsonOption = False, url: UrlOption = None) -> None:
    """List the messages of which all tries failed, the oldest first."""
    with server(url) as client:
        messages = client.dead_messages(webhook).messages
    table = Table("id", "since", "events", "tries", "last error", box=None, pad_edge=False)
    for one in messages:
        since = format_minute(one.since, UTC)
        table.add_row(_shown(one.id), since, f"{len(one.events)}", f"{one.tries}", _shown(one.error))
    _print(messages, table, "No dead messages", as_json=as_json)


@app.command()
def replay(
    webhook: WebhookArgument,
    message: Annotated[list[str] | None, typer.Argument(help="Ids of dead messages. Default: all")] = None,
    as_json: JsonOption = False,
    url: UrlOption = None,
) -> None:
    """Send dead messages again."""
    with server(url) as client:
        sent = client.replay(webhook, message or None)
    if as_json:
        print_json(sent)
    else:
        out.print(f"{sent.count} sent again", markup=False)


def _print_secret(made: MadeWebhook, *, as_json: bool) -> None:
    if as_json:
        print(made.model_dump_json(indent=2))
    else:
        err.print(f"Webhook {made.id}. Its secret is shown only now:", markup=False)
        out.print(made.secret, markup=False)


def _print(rows: tuple[BaseModel, ...], table: Table, none: str, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps([one.model_dump(mode="json") for one in rows], indent=2))
    elif rows:
        out.print(table, soft_wrap=False)
    else:
        err.print(none, markup=False)


def _shown(text: str) -> str:
    return escape(harmless(text))
