"""``vicw export``, ``import``, ``backup`` and ``restore``."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vicw_runtime.logs import configure_logs
from vicw_runtime.operations.command import DataDirOption, PlatformOption, tenant_name
from vicw_runtime.operations.console import err, fail, harmless, out, progress_bar
from vicw_shared.clock import now
from vicw_shared.extensions import load_registries
from vicw_shared.settings import LogSettings
from vicw_shared.text import counted
from vicw_standalone import __version__
from vicw_standalone.settings import read_settings

if TYPE_CHECKING:
    from vicw_core.archive.manifest import Manifest
    from vicw_shared.ports import KeyRing
    from vicw_shared.progress import Progress
    from vicw_sleep.archive.exporter import ExportSource
    from vicw_sleep.archive.importer import ImportResult, ImportTarget

FromArgument = Annotated[Path, typer.Argument(help="Folder of an export, or .tar.gz of a backup.")]


def register(app: typer.Typer) -> None:
    """Add the subcommands."""
    app.command("export")(export_command)
    app.command("import")(import_command)
    app.command("backup")(backup_command)
    app.command("restore")(restore_command)


def export_command(
    to: Annotated[Path, typer.Option(help="Folder to write: new, empty, or an earlier export, which is replaced.")],
    tenant: Annotated[str | None, typer.Option(help="Only this tenant. \\[default: all]", callback=tenant_name)] = None,
    context: Annotated[str | None, typer.Option(help="Only contexts of this name. \\[default: all]")] = None,
    keys: Annotated[bool, typer.Option("--keys", help="Include the digests of all API keys.")] = False,
    no_vectors: Annotated[
        bool, typer.Option("--no-vectors", help="Without vectors: an import embeds all passages again.")
    ] = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Export the store into a folder of readable files: JSONL, edges, vectors, a manifest.

    A server may be running and storing: each context is written as of a single moment. A running server supplies the
    vectors; if it requires keys, VICW_API_KEY must be a key with the right admin. After a stop or kill no folder of
    that name is left.
    """
    manifest, path = _export(to, tenant, context, keys, no_vectors, data_dir, platform)
    _say_export(manifest, path)


def import_command(
    path: FromArgument,
    check: Annotated[bool, typer.Option("--check", help="Only check whether the export could be imported.")] = False,
    keys: Annotated[
        bool, typer.Option("--keys", help="Also import the API keys; the author of the export may know one of them.")
    ] = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Import an export into a store of either kind.

    Every record is validated first: an invalid one is refused with its file, line and field, and nothing is stored. The
    store must hold no data of the export's tenants. After the import the store is checked as by `vicw check`; the
    import is complete only if that is clean. After a stop or kill it resumes when it is run again. `vicw serve` must be
    stopped; on the platform, all writers to these tenants. Vectors are imported if the model is the same or the store
    has none yet; otherwise the server embeds the passages.

    For files, folders and chats use `vicw ingest`.
    """
    configure_logs(LogSettings(level="warning"))
    _import(path, data_dir, platform, check=check, keys=keys)


def backup_command(
    to: Annotated[Path, typer.Option(help="Folder of the backups.")],
    keep: Annotated[int | None, typer.Option(help="Number of backups to keep, including this one.", min=1)] = None,
    compress: Annotated[bool, typer.Option("--compress", help="Pack the backup into one .tar.gz.")] = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Export everything, with API keys, into a new folder named by the time; then remove older backups (--keep)."""
    from vicw_sleep.archive.backups import name_at, pack, prune

    manifest, path = _export(to / name_at(now()), None, None, True, False, data_dir, platform)
    if compress:
        path = pack(path)
    _say_export(manifest, path)
    for removed in prune(path, keep) if keep is not None else []:
        out.print(f"removed {removed}", markup=False)


def restore_command(
    path: FromArgument,
    replace: Annotated[
        bool, typer.Option("--replace", help="Move existing data aside, where it is kept, and restore.")
    ] = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Restore a backup into an empty store, without checking its invariants.

    After a stop or kill it resumes when it is run again without --replace.
    """
    configure_logs(LogSettings(level="warning"))
    if replace and platform:
        fail("--replace needs a data directory; on the platform, empty the engines' volumes first", code=2)
    _import(path, data_dir, platform, keys=True, restoring=True, replace=replace)


@asynccontextmanager
async def _source(data_dir: Path | None, platform: bool) -> AsyncIterator[tuple[ExportSource, KeyRing]]:
    if platform:
        from vicw_standalone.archive.platform import open_source as open_platform

        async with open_platform() as opened:
            yield opened
        return
    # The platform's image has no embedded stores.
    from vicw_standalone.archive.embedded import open_source

    async with open_source(read_settings(data_dir=data_dir)) as source:
        yield source


@asynccontextmanager
async def _target(data_dir: Path | None, platform: bool) -> AsyncIterator[ImportTarget]:
    if platform:
        from vicw_standalone.archive.platform import open_target as open_platform

        async with open_platform() as opened:
            yield opened
        return
    from vicw_standalone.archive.embedded import open_target

    async with open_target(read_settings(data_dir=data_dir)) as target:
        yield target


def _export(
    to: Path,
    tenant: str | None,
    context: str | None,
    with_keys: bool,
    without_vectors: bool,
    data_dir: Path | None,
    platform: bool,
) -> tuple[Manifest, Path]:
    from vicw_core.archive.writer import ArchiveWriter
    from vicw_sleep.archive.exporter import ExportSelection, ExportSource, export

    configure_logs(LogSettings(level="warning"))

    async def run(progress: Progress) -> Manifest:
        async with _source(data_dir, platform) as (opened, ring):
            source = ExportSource(graph=opened.graph) if without_vectors else opened
            key_list = [key for key in await ring.keys() if tenant in {None, key.tenant}] if with_keys else []
            selection = ExportSelection(tenant=tenant, context=context, keys=key_list)
            with ArchiveWriter(to) as writer:
                return await export(
                    source, writer, load_registries(), selection, program=__version__, progress=progress
                )

    with progress_bar("exporting") as progress:
        return asyncio.run(run(progress)), to


def _say_export(manifest: Manifest, path: Path) -> None:
    edges = manifest.rows(["edges.jsonl"])
    nodes = counted(manifest.rows(manifest.node_files), "node")
    counts = f"{nodes}, {counted(edges, 'edge')}, {counted(manifest.vectors, 'vector')}"
    out.print(f"{path}: {counts}", markup=False)
    if manifest.model is None:
        err.print("without vectors: an import embeds all passages again", markup=False)
    for kind, count in manifest.left_out.items():
        left_out = counted(count, kind.removesuffix("s"))
        err.print(f"left out: {left_out} to items that are not exported", markup=False)


def _import(
    path: Path,
    data_dir: Path | None,
    platform: bool,
    *,
    keys: bool,
    check: bool = False,
    restoring: bool = False,
    replace: bool = False,
) -> None:
    from vicw_core.archive.manifest import KEYS
    from vicw_core.archive.reader import ArchiveReader
    from vicw_sleep.archive.backups import unpacked
    from vicw_sleep.archive.importer import import_archive
    from vicw_sleep.archive.validator import validate

    with unpacked(path) as folder, progress_bar("checking") as progress:
        validated = validate(ArchiveReader(folder), load_registries().edges, progress)

        async def run() -> ImportResult:
            async with _target(data_dir, platform) as target:
                chosen = target if keys else target.without_keys()
                return await import_archive(validated, chosen, progress, restoring=restoring)

        if not check:
            if replace:
                _make_room(data_dir)
            result = asyncio.run(run())
    if check:
        out.print(f"{path}: every record is valid", markup=False)
        return
    out.print(f"{counted(result.nodes, 'node')}, {counted(result.edges, 'edge')}, {counted(result.vectors, 'vector')}")
    if missing := validated.reader.manifest.vectors - result.vectors:
        err.print(f"{counted(missing, 'vector')} not imported: the server embeds these passages")
    if KEYS in validated.reader.manifest.files and not keys:
        err.print("the API keys were not imported; --keys imports them", markup=False)
    if restoring:
        out.print(f"`vicw check{' --platform' if platform else ''}` checks the store", markup=False)
        return
    for violation in result.violations:
        out.print(harmless(violation), markup=False)
    if result.violations:
        fail(
            "the store breaks invariants, so the import is not complete: export again from a store that `vicw check` "
            "finds clean. `vicw forget import` abandons this import; `vicw restore` loads the export unchecked into "
            "an empty store"
        )
    out.print("clean")


def _make_room(data_dir: Path | None) -> None:
    """Move the stored data aside, even if it cannot be opened: then a backup is needed most."""
    from vicw_standalone.archive.embedded import move_aside
    from vicw_stores.sqlite import GRAPH

    path = read_settings(data_dir=data_dir).storage.data_dir
    if (path / GRAPH).exists():
        aside = move_aside(path, f"replaced-{now():%Y%m%dT%H%M%SZ}")
        err.print(f"the previous data is now in {aside}", markup=False)
