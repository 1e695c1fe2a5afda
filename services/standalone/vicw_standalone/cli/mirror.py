"""``vicw mirror``: the memory as a folder of Markdown files."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vicw_shared.errors import MissingRecordError
from vicw_shared.text import counted
from vicw_standalone.cli.console import err, fail, harmless, out, progress_bar, read_settings
from vicw_standalone.cli.jobs import open_graph_of
from vicw_standalone.cli.models import DataDirOption, PlatformOption, tenant_name
from vicw_standalone.settings import StandaloneSettings

if TYPE_CHECKING:
    from vicw_shared.ports import Store
    from vicw_sleep.mirror.page_writer import MirrorResult
    from vicw_sleep.mirror.service import Mirror

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
    path: PathOption = None,
    viewer: ViewerOption = None,
    tenant: TenantOption = None,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Build the mirror beside the existing one, then swap them. A server may be running.

    After a kill the existing mirror stays. Edits, notes and a reader's settings in it are kept. A tenant without stored
    data is refused with exit code 2, unless the mirror belongs to that tenant.
    """
    settings = _settings(path, viewer, tenant, data_dir)
    with progress_bar("reading") as progress:
        _print_result(_run(settings, platform, lambda mirror: mirror.build(progress), writes=True))


def sync_command(
    path: PathOption = None,
    viewer: ViewerOption = None,
    tenant: TenantOption = None,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Build the mirror if there is none, or if the memory has changed since the last build.

    A tenant without stored data is refused with exit code 2, unless the mirror belongs to that tenant.
    """
    settings = _settings(path, viewer, tenant, data_dir)
    with progress_bar("reading") as progress:
        _print_result(_run(settings, platform, lambda mirror: mirror.sync(progress), writes=True))


def status_command(
    path: PathOption = None,
    viewer: ViewerOption = None,
    tenant: TenantOption = None,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Show the size of the mirror and whether it is up to date. Exit code 1 if it is not."""
    state = _run(_settings(path, viewer, tenant, data_dir), platform, lambda mirror: mirror.status())
    if state is None:
        fail("there is no mirror yet: `vicw mirror build` builds one")
    out.print(f"{counted(state.atoms, 'item')} on {counted(state.pages, 'page')}", markup=False)
    if state.edited:
        edited = "1 page was" if state.edited == 1 else f"{state.edited} pages were"
        out.print(f"{edited} edited; the next build keeps the edit in .vicw-edits", markup=False)
    if state.rebuild_reason:
        out.print(harmless(state.rebuild_reason), markup=False, soft_wrap=True)
        raise typer.Exit(1)


def _settings(path: Path | None, viewer: str | None, tenant: str | None, data_dir: Path | None) -> StandaloneSettings:
    settings = read_settings(data_dir=data_dir)
    options = {"path": path, "viewer": viewer, "tenant": tenant}
    mirror = settings.mirror.model_copy(update={name: value for name, value in options.items() if value is not None})
    if mirror.path is None:
        fail("name the mirror's folder: --path FOLDER, or VICW_MIRROR_PATH", code=2)
    from dataclasses import replace

    return replace(settings, mirror=mirror)


def _run[T](
    settings: StandaloneSettings, platform: bool, work: Callable[[Mirror], Awaitable[T]], *, writes: bool = False
) -> T:
    from vicw_sleep.mirror.service import Mirror
    from vicw_sleep.mirror.visibility import MirrorVisibility

    async def run() -> T:
        async with open_graph_of(settings.storage.data_dir, platform) as graph:
            assert settings.mirror.path is not None
            visibility = MirrorVisibility(settings.mirror.viewer or "")
            mirror = Mirror(graph, settings.mirror.path, settings.mirror.tenant, visibility)
            if writes:
                await _require_known(graph, mirror)
            return await work(mirror)

    return asyncio.run(run())


async def _require_known(graph: Store, mirror: Mirror) -> None:
    """Refuse a tenant without data: its name is mistyped. A mirror that still shows the tenant is emptied instead."""
    from vicw_ingest.erasure.selection import choose_tenant

    try:
        await choose_tenant(graph, mirror.tenant)
    except MissingRecordError as error:
        if not await mirror.is_there():
            fail(
                f"{harmless(error.detail)}. Name one with --tenant or VICW_MIRROR_TENANT; no mirror was written", code=2
            )


def _print_result(done: MirrorResult) -> None:
    out.print(f"{counted(done.atoms, 'item')}; {counted(done.pages, 'page')} written", markup=False)
    for page in done.edited:
        err.print(f"{page} was edited; the edit is kept in .vicw-edits", markup=False)
