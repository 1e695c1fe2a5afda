"""``vicw keys``: API keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from vicw_runtime.console import err, out
from vicw_runtime.operations.command import DataDirOption, Place, PlatformOption, run_command, tenant_name
from vicw_shared.model.keys import Right

if TYPE_CHECKING:
    from vicw_runtime.keys.api import ListedKey

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
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Create a key and print it once: only its digest is stored. By default it may ingest and retrieve."""
    from vicw_runtime.keys.api import CREATE_KEY, CreateKeyRequest

    rights = tuple(dict.fromkeys(right or (Right.INGEST, Right.RETRIEVE)))
    request = CreateKeyRequest(tenant=tenant, rights=rights, note=note)
    key = run_command(ctx, CREATE_KEY, request, Place(data_dir, platform))
    err.print(f"Key {key.id} of tenant {tenant} ({', '.join(key.rights)}). It is shown only now:", markup=False)
    out.print(key.token, markup=False)


@app.command("list")
def list_keys(
    ctx: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON per key.")] = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """List all keys by their ids, including revoked ones; the keys themselves are never shown."""
    from vicw_runtime.keys.api import LIST_KEYS, ListKeysRequest

    table = Table("id", "tenant", "rights", "created", "revoked", "note", box=None)

    def add(key: ListedKey) -> None:
        if as_json:
            print(key.model_dump_json())
            return
        revoked = f"{key.revoked_at:%Y-%m-%d %H:%M}" if key.revoked_at else ""
        table.add_row(key.id, key.tenant, ", ".join(key.rights), f"{key.created_at:%Y-%m-%d %H:%M}", revoked, key.note)

    run_command(ctx, LIST_KEYS, ListKeysRequest(), Place(data_dir, platform), on_item=add)
    if not as_json:
        out.print(table)


@app.command()
def revoke(
    ctx: typer.Context,
    key_id: Annotated[str, typer.Argument(help="Id of the key, as `vicw keys list` shows it")],
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Revoke a key. Every server refuses it within five seconds."""
    from vicw_runtime.keys.api import REVOKE_KEY, RevokeKeyRequest

    done = run_command(ctx, REVOKE_KEY, RevokeKeyRequest(id=key_id), Place(data_dir, platform))
    out.print(f"Key {done.id} is revoked", markup=False)
