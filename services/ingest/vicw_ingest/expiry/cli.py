"""``vicw sleep expire``, and expiries in ``vicw sleep log``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, cast

import typer

from vicw_runtime.console import out, print_line
from vicw_runtime.operations.command import DataDirOption, Place, PlatformOption, run_command
from vicw_runtime.terminal.json_option import JsonOption
from vicw_shared.ports import MaintenanceStep
from vicw_shared.text import counted

if TYPE_CHECKING:
    from vicw_ingest.expiry.api import ExpiredItem


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(expire)


def expire(
    ctx: typer.Context,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be retired.")] = False,
    as_json: JsonOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Retire the items whose expires_at has passed, with everything that rests on them alone.

    Answers omit an item from that time on; retiring also removes its edges and closes gaps in its flow. Questions about
    the past still find it, and `vicw sleep log` lists it. A server also runs this automatically
    (VICW_INGEST_EXPIRY_SECONDS).
    """
    from vicw_ingest.expiry.api import EXPIRE_ITEMS, LISTED, ExpireRequest

    request = ExpireRequest(dry_run=dry_run)
    place = Place(data_dir, platform)
    done = run_command(ctx, EXPIRE_ITEMS, request, place, progress="retiring", on_item=_show_item, as_json=as_json)
    if as_json:
        return
    if not dry_run:
        out.print(f"{counted(done.retired, 'item')} retired (expired)")
        return
    count = f"more than {LISTED} items" if done.more else counted(done.retired, "item")
    out.print(f"{count} would be retired (expired)")


def _show_item(item: ExpiredItem) -> None:
    print_line(f"retire  {item.context} · [{item.id}] {item.name} · expired {item.expires_at}")


def describe_expiry(step: MaintenanceStep, names: Mapping[str, str]) -> str:
    """Return a line about an expiry, with the item's name while the store still has it."""
    details = step.details
    end = str(details.get("expired", "?"))[:16].replace("T", " ")
    sources = cast(int | None, details.get("sources"))
    subject = (
        f"{counted(sources, 'Event')} of flow {details.get('flow', '?')}"
        if sources
        else f"[{details.get('item') or step.subject}]"
    )
    return " ".join(part for part in (subject, names.get(step.subject, ""), "· expired", end) if part)
