"""``vicw forget capacity``, and evictions in ``vicw sleep log``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from vicw_runtime.console import fail, out, print_line
from vicw_runtime.operations.command import DataDirOption, Place, PlatformOption, run_command
from vicw_runtime.terminal.json_option import JsonOption
from vicw_shared.errors import InvalidInputError
from vicw_shared.ports import MaintenanceStep
from vicw_shared.text import counted

if TYPE_CHECKING:
    from vicw_ingest.eviction.api import EvictedItem


def capacity(
    ctx: typer.Context,
    items: Annotated[
        int | None, typer.Option(help="Maximum number of items of a tenant. \\[default: VICW_EVICTION_ITEMS]", min=1)
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be erased.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the last line.")] = False,
    as_json: JsonOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Erase the items of least weight from tenants with more items than allowed.

    Protected items, and items stored or shown within VICW_EVICTION_DAYS, stay. Erased items cannot be restored. A
    server also runs this automatically (VICW_EVICTION_SCHEDULE).
    """
    from vicw_ingest.eviction.api import EVICT_ITEMS, EvictRequest

    def show_item(item: EvictedItem) -> None:
        if not quiet:
            print_line(f"{item.context} · [{item.id}] {item.name} · weight {item.weight:.3f}")

    request = EvictRequest(items=items, dry_run=dry_run)
    place = Place(data_dir, platform)
    try:
        done = run_command(ctx, EVICT_ITEMS, request, place, progress="evicting", on_item=show_item, as_json=as_json)
    except InvalidInputError:
        fail("no limit is set: name one with --items or VICW_EVICTION_ITEMS", code=2)
    if as_json:
        return
    out.print(f"{counted(done.erased, 'item')} {'would be erased' if dry_run else 'erased'}")


def describe_eviction(step: MaintenanceStep) -> str:
    """Return a line about the items that a step evicted."""
    items = step.details.get("items")
    return f"{counted(items, 'item') if isinstance(items, int) else '? items'} evicted for lack of space"
