"""``vicw keys``: API keys."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from vicw_runtime.logs import configure_logs
from vicw_runtime.operations.console import err, fail, out
from vicw_shared.clock import now
from vicw_shared.model.keys import Right, mint
from vicw_shared.ports import KeyRing
from vicw_shared.settings import LogSettings
from vicw_standalone.cli.models import DataDirOption, PlatformOption, tenant_name
from vicw_standalone.platform_stores import open_graph
from vicw_standalone.settings import read_settings

app = typer.Typer(
    help="Create, list and revoke API keys. A server that other machines can reach requires one.",
    no_args_is_help=True,
)


def register(parent: typer.Typer) -> None:
    """Add the subcommands."""
    parent.add_typer(app, name="keys")


def _with_ring[T](data_dir: Path | None, platform: bool, work: Callable[[KeyRing], Awaitable[T]]) -> T:
    configure_logs(LogSettings(level="warning"))

    async def run() -> T:
        if platform:
            async with open_graph() as graph:
                return await work(graph.key_ring)
        # The platform's image has no embedded stores.
        import vicw_stores.edge  # noqa: F401 - an installation without embedded stores says that first
        from vicw_stores.sqlite import GRAPH, require_store
        from vicw_stores.sqlite.keys import SqliteKeyRing

        path = read_settings(data_dir=data_dir).storage.data_dir
        require_store(path)
        return await work(SqliteKeyRing(path / GRAPH))

    return asyncio.run(run())


@app.command()
def create(
    tenant: Annotated[str, typer.Option(help="Tenant that the key gives access to", callback=tenant_name)] = "default",
    right: Annotated[list[Right] | None, typer.Option(help="What the key allows; may be repeated.")] = None,
    note: Annotated[str, typer.Option(help="What the key is for")] = "",
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Create a key and print it once: only its digest is stored. By default it may ingest and retrieve."""
    key, token = mint(tenant, tuple(right or (Right.INGEST, Right.RETRIEVE)), now(), note)
    _with_ring(data_dir, platform, lambda ring: ring.add(key))
    err.print(f"Key {key.id} of tenant {tenant} ({', '.join(key.rights)}). It is shown only now:", markup=False)
    out.print(token, markup=False)


@app.command("list")
def list_keys(data_dir: DataDirOption = None, platform: PlatformOption = False) -> None:
    """List all keys by their ids, including revoked ones; the keys themselves are never shown."""
    table = Table("id", "tenant", "rights", "created", "revoked", "note", box=None)
    for key in _with_ring(data_dir, platform, lambda ring: ring.keys()):
        revoked = f"{key.revoked_at:%Y-%m-%d %H:%M}" if key.revoked_at else ""
        table.add_row(key.id, key.tenant, ", ".join(key.rights), f"{key.created_at:%Y-%m-%d %H:%M}", revoked, key.note)
    out.print(table)


@app.command()
def revoke(
    key_id: Annotated[str, typer.Argument(help="Id of the key, as `vicw keys list` shows it")],
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Revoke a key. Every server refuses it within five seconds."""
    if not _with_ring(data_dir, platform, lambda ring: ring.revoke(key_id, now())):
        fail(f"There is no valid key {key_id}; `vicw keys list` lists all keys")
    out.print(f"Key {key_id} is revoked", markup=False)
