"""``vicw jobs unread`` and ``reread``: what a language model has still to read, and trying it again."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated

import typer

from vicw_shared.ports import Backlog, IndexFailure
from vicw_shared.settings import RedisSettings
from vicw_shared.settings.variables import named_by_variable
from vicw_standalone.cli.console import err, fail, out
from vicw_standalone.cli.jobs import TenantOption, app, fields_of, open_graph_of, told, uid_of
from vicw_standalone.cli.models import DataDirOption, PlatformOption, tenant_name


def register(_: typer.Typer) -> None:
    """Add the subcommands to those of ``vicw jobs``."""
    app.command("unread")(list_unread)
    app.command()(reread)


def list_unread(
    tenant: TenantOption = None,
    limit: Annotated[int, typer.Option(help="Items listed.", min=1)] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """List the items that a language model fails at, most tries first, with the last error; say how many wait.

    They are stored and found all the same. What is dead is tried no more: `vicw jobs reread` makes it due again.
    """

    async def read() -> tuple[list[IndexFailure], Backlog]:
        async with open_graph_of(data_dir, platform) as graph:
            return await graph.unread.failures(tenant, limit), await graph.unread.backlog(tenant)

    found, backlog = asyncio.run(read())
    if as_json:
        print(json.dumps([fields_of(failure) for failure in found], indent=2))
        return
    for failure in found:
        out.print(told(failure), markup=False)
    left = backlog.failing + backlog.dead - len(found)
    more = f"; {left} are not shown" if left > 0 else ""
    err.print(f"{backlog.waiting} waiting, {backlog.failing} of them failing, {backlog.dead} dead{more}")


def reread(
    items: Annotated[list[str] | None, typer.Argument(help="Items, as `vicw jobs unread` shows them")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All that fail, of all tenants.")] = False,
    tenant: Annotated[str | None, typer.Option(help="All that fail, of this tenant.", callback=tenant_name)] = None,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Have a language model read items again that it failed at, dead ones too, as if it never had.

    A running server or worker begins within seconds; a stopped one, when it starts.
    """
    if sum((bool(items), everything, tenant is not None)) != 1:
        fail("say what to read again: items, or --tenant, or --all", code=2)
    named = {uid_of(item) for item in items or ()}
    count = asyncio.run(_replay(sorted(named) or None, tenant, data_dir, platform))
    out.print("1 item is due again" if count == 1 else f"{count} items are due again")
    if count < len(named):
        fail(f"{len(named) - count} of the items named do not fail; `vicw jobs unread` lists those that do")


async def _replay(items: list[str] | None, tenant: str | None, data_dir: Path | None, platform: bool) -> int:
    async with open_graph_of(data_dir, platform) as graph:
        count = await graph.unread.replay(items, tenant=tenant)
    if platform and count:
        from vicw_shared.adapters.celery_queue import EXTRACT, EXTRACT_QUEUE, CeleryQueue

        with named_by_variable():
            queue = CeleryQueue(RedisSettings(), task=EXTRACT, queue=EXTRACT_QUEUE)
        await queue.wake()
        await queue.close()
    return count
