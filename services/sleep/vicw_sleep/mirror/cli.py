"""``vicw mirror``: the memory as a folder of Markdown files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vicw_runtime.console import err, fail, harmless, out
from vicw_runtime.operations.command import (
    DataDirOption,
    Place,
    PlatformOption,
    run_command,
    tenant_name,
)
from vicw_runtime.terminal.json_option import JsonOption
from vicw_shared.errors import InvalidInputError, MissingRecordError
from vicw_shared.text import counted

if TYPE_CHECKING:
    from vicw_runtime.operations import Operation
    from vicw_sleep.mirror.api import MirrorRequest, MirrorWritten

PathOption = Annotated[Path | None, typer.Option(help="Folder of the mirror. \\[default: VICW_MIRROR_PATH]")]
ViewerOption = Annotated[
    str | None,
    typer.Option(
        help="Viewer: a person's name, or * for everything. \\[default: VICW_MIRROR_VIEWER, or public items only]"
    ),
]
TenantOption = Annotated[
    str | None, typer.Option(help="Tenant to mirror. \\[default: VICW_MIRROR_TENANT]", callback=tenant_name)
]


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(
        help="Mirror the memory into a folder of Markdown files: build, sync, status.", no_args_is_help=True
    )
    group.command("build")(build_command)
    group.command("sync")(sync_command)
    group.command("status")(status_command)
    app.add_typer(group, name="mirror")


def build_command(
    ctx: typer.Context,
    path: PathOption = None,
    viewer: ViewerOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Build the mirror beside the existing one, then swap them. A server that has the data directory open does it.

    After a kill the existing mirror stays. Edits, notes and a reader's settings in it are kept. A tenant without stored
    data is refused with exit code 2, unless the mirror belongs to that tenant.
    """
    from vicw_sleep.mirror.api import BUILD

    place = Place(data_dir, platform)
    _print_written(_run(ctx, BUILD, _request(path, viewer, tenant), place, as_json=as_json), silent=as_json)


def sync_command(
    ctx: typer.Context,
    path: PathOption = None,
    viewer: ViewerOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Build the mirror if there is none, or if the memory has changed since the last build.

    A tenant without stored data is refused with exit code 2, unless the mirror belongs to that tenant.
    """
    from vicw_sleep.mirror.api import SYNC

    place = Place(data_dir, platform)
    _print_written(_run(ctx, SYNC, _request(path, viewer, tenant), place, as_json=as_json), silent=as_json)


def status_command(
    ctx: typer.Context,
    path: PathOption = None,
    viewer: ViewerOption = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Show the size of the mirror and whether it is up to date. Exit code 1 if it is not."""
    from vicw_sleep.mirror.api import STATUS

    place = Place(data_dir, platform)
    state = _run(ctx, STATUS, _request(path, viewer, tenant), place, missing=1, as_json=as_json)
    if as_json:
        raise typer.Exit(1 if state.rebuild_reason else 0)
    out.print(f"{counted(state.items, 'item')} on {counted(state.pages, 'page')}", markup=False)
    if state.edited:
        edited = "1 page was" if state.edited == 1 else f"{state.edited} pages were"
        out.print(f"{edited} edited; the next build keeps the edit in .vicw-edits", markup=False)
    if state.rebuild_reason:
        out.print(harmless(state.rebuild_reason), markup=False, soft_wrap=True)
        raise typer.Exit(1)


def _request(path: Path | None, viewer: str | None, tenant: str | None) -> MirrorRequest:
    from vicw_sleep.mirror.api import MirrorRequest

    folder = str(path.expanduser().absolute()) if path is not None else None
    return MirrorRequest(path=folder, viewer=viewer, tenant=tenant)


def _run[R: Any](
    ctx: typer.Context,
    operation: Operation[Any, MirrorRequest, R, Any],
    request: MirrorRequest,
    place: Place,
    *,
    as_json: bool,
    missing: int = 2,
) -> R:
    """Run an operation; end with exit code 2 without a folder, and with ``missing`` if nothing is there to mirror."""
    try:
        return run_command(ctx, operation, request, place, progress="reading", as_json=as_json)
    except InvalidInputError as error:
        fail(error.detail, code=2)
    except MissingRecordError as error:
        fail(harmless(error.detail), code=missing)


def _print_written(done: MirrorWritten, *, silent: bool) -> None:
    if silent:
        return
    out.print(f"{counted(done.items, 'item')}; {counted(done.pages, 'page')} written", markup=False)
    for page in done.edited:
        err.print(f"{page} was edited; the edit is kept in .vicw-edits", markup=False)
