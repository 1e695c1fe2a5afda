"""``vicw keys``: API keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from vicw_runtime.console import err, harmless, out
from vicw_runtime.operations.command import (
    DataDirOption,
    Place,
    PlatformOption,
    RemoteOption,
    run_command,
    tenant_name,
)
from vicw_runtime.operations.remote import refuse_options, remote_of
from vicw_runtime.terminal.json_option import JsonOption, print_json
from vicw_shared.model.keys import Right

if TYPE_CHECKING:
    from vicw_runtime.keys.api import CreatedKey, ListedKey
    from vicw_shared.wire.keys import Key, MadeKey

app = typer.Typer(
    help="Create, list and revoke API keys. A server that other machines can reach requires one.",
    no_args_is_help=True,
)


def register(parent: typer.Typer) -> None:
    """Add the subcommands."""
    parent.add_typer(app, name="keys")


@app.command()
def create(
    ctx: typer.Context,
    tenant: Annotated[str, typer.Option(help="Tenant that the key gives access to", callback=tenant_name)] = "default",
    right: Annotated[list[Right] | None, typer.Option(help="What the key allows; may be repeated.")] = None,
    note: Annotated[str, typer.Option(help="What the key is for")] = "",
    as_json: JsonOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
    url: RemoteOption = None,
) -> None:
    """Create a key and print it once: only its digest is stored. By default it may ingest and retrieve.

    At an address it is of the tenant of VICW_API_KEY, and has no right that this key lacks.
    """
    from vicw_runtime.keys.api import CREATE_KEY, CreateKeyRequest

    rights = tuple(dict.fromkeys(right or (Right.INGEST, Right.RETRIEVE)))
    place = Place(data_dir, platform, url)
    key: CreatedKey | MadeKey
    if (server := remote_of(ctx, place)) is not None:
        refuse_options(ctx, "tenant")
        with server as memory:
            key = memory.create_key(*rights, note=note)
        of = ""
    else:
        key = run_command(ctx, CREATE_KEY, CreateKeyRequest(tenant=tenant, rights=rights, note=note), place)
        of = f" of tenant {tenant}"
    if as_json:
        print_json(key)
        return
    err.print(f"Key {key.id}{of} ({', '.join(key.rights)}). It is shown only now:", markup=False)
    out.print(key.token, markup=False)


@app.command("list")
def list_keys(
    ctx: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON per key.")] = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
    url: RemoteOption = None,
) -> None:
    """List all keys by their ids, including revoked ones; the keys themselves are never shown.

    At an address they are those of the tenant of VICW_API_KEY.
    """
    from vicw_runtime.keys.api import LIST_KEYS, ListKeysRequest

    keys: Sequence[ListedKey | Key]
    place = Place(data_dir, platform, url)
    if (server := remote_of(ctx, place)) is not None:
        with server as memory:
            keys = memory.keys().keys
    else:
        listed: list[ListedKey] = []
        run_command(ctx, LIST_KEYS, ListKeysRequest(), place, on_item=listed.append)
        keys = listed
    if not as_json:
        out.print(_table(keys), soft_wrap=False)
        return
    for key in keys:
        print(key.model_dump_json())


@app.command()
def revoke(
    ctx: typer.Context,
    key_id: Annotated[str, typer.Argument(help="Id of the key, as `vicw keys list` shows it")],
    as_json: JsonOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
    url: RemoteOption = None,
) -> None:
    """Revoke a key. Every server refuses it within five seconds."""
    from vicw_runtime.keys.api import REVOKE_KEY, RevokedKey, RevokeKeyRequest

    place = Place(data_dir, platform, url)
    if (server := remote_of(ctx, place)) is not None:
        with server as memory:
            done = RevokedKey(id=memory.revoke_key(key_id).id)
    else:
        done = run_command(ctx, REVOKE_KEY, RevokeKeyRequest(id=key_id), place)
    if as_json:
        print_json(done)
    else:
        out.print(f"Key {done.id} is revoked", markup=False)


def _table(keys: Iterable[ListedKey | Key]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("id", no_wrap=True)
    for name in ("tenant", "rights", "created", "revoked", "note"):
        table.add_column(name, overflow="fold")
    for key in keys:
        tenant = getattr(key, "tenant", "(its own)")
        revoked = f"{key.revoked_at:%Y-%m-%d %H:%M}" if key.revoked_at else ""
        created = f"{key.created_at:%Y-%m-%d %H:%M}"
        words = (tenant, ", ".join(key.rights), created, revoked, key.note)
        table.add_row(key.id, *(escape(harmless(word)) for word in words))
    return table
