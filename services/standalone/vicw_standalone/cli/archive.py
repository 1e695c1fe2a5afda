"""``vicw export``, ``import``, ``backup``, ``restore``: all that a store knows, out and in again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vicw_shared.clock import now
from vicw_shared.extensions import load_registries
from vicw_shared.logs import configure_logs
from vicw_shared.settings import LogSettings
from vicw_standalone import __version__
from vicw_standalone.cli.console import err, fail, harmless, out
from vicw_standalone.cli.models import DataDirOption, PlatformOption, tenant_name
from vicw_standalone.cli.progress import progress_bar
from vicw_standalone.cli.settings import read_settings
from vicw_standalone.counts import counted

if TYPE_CHECKING:
    from vicw_shared.archive.manifest import Manifest
    from vicw_shared.ports import KeyRing
    from vicw_shared.progress import Progress
    from vicw_sleep.archive.exporter import ExportSource
    from vicw_sleep.archive.importer import ImportResult, ImportTarget

FromArgument = Annotated[Path, typer.Argument(help="The folder of an export, or the .tar.gz of a backup.")]


def register(app: typer.Typer) -> None:
    """Add the subcommands."""
    app.command("export")(export_command)
    app.command("import")(import_command)
    app.command("backup")(backup_command)
    app.command("restore")(restore_command)


def export_command(
    to: Annotated[Path, typer.Option(help="The folder to make: new, empty, or an earlier export, which it replaces.")],
    tenant: Annotated[str | None, typer.Option(help="Only this tenant. \\[default: all]", callback=tenant_name)] = None,
    context: Annotated[str | None, typer.Option(help="Only contexts of this name. \\[default: all]")] = None,
    keys: Annotated[bool, typer.Option("--keys", help="With the digests of all API keys.")] = False,
    no_vectors: Annotated[bool, typer.Option("--no-vectors", help="Without vectors: an import embeds anew.")] = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Write all that is stored into a folder that people can read: JSONL, edges, vectors, a manifest.

    A server may be running and storing: each context is written as it was at one moment. `vicw serve` tells the vectors
    of its index; where it asks for keys, VICW_API_KEY has to be one with the right admin. Stopped or killed, nothing is
    left under the folder's name.
    """
    manifest, path = _export(to, tenant, context, keys, no_vectors, data_dir, platform)
    _say_export(manifest, path)


def import_command(
    path: FromArgument,
    check: Annotated[bool, typer.Option("--check", help="Only say whether it could be imported.")] = False,
    keys: Annotated[bool, typer.Option("--keys", help="Also its API keys; its author may know one of them.")] = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Bring an export into a store, whatever kind of store it is from.

    Each record is read first: one that no store has is refused by file, line and field, and nothing is stored. The
    store must have nothing of the export's tenants. Once all is stored, the store is checked as by `vicw check`: the
    import is complete only if that is clean. Stopped or killed, it goes on when it is run again. `vicw serve` must be
    stopped; on the platform, whatever writes to these tenants. Vectors are taken over if the model is the same, or the
    store has none yet; otherwise passages are embedded by the server.

    Files, folders and chats are remembered by `vicw ingest`.
    """
    configure_logs(LogSettings(level="warning"))
    _import(path, data_dir, platform, check=check, keys=keys)


def backup_command(
    to: Annotated[Path, typer.Option(help="The folder that holds the backups.")],
    keep: Annotated[int | None, typer.Option(help="Keep only so many, this one among them.", min=1)] = None,
    compress: Annotated[bool, typer.Option("--compress", help="Pack it into one .tar.gz.")] = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Export everything, API keys too, into a new folder that is named by the time. Older ones go when it is whole."""
    from vicw_standalone.archive.backups import name_at, pack, prune

    manifest, path = _export(to / name_at(now()), None, None, True, False, data_dir, platform)
    if compress:
        path = pack(path)
    _say_export(manifest, path)
    for gone in prune(path, keep) if keep is not None else []:
        out.print(f"removed {gone}", markup=False)


def restore_command(
    path: FromArgument,
    replace: Annotated[
        bool, typer.Option("--replace", help="Also where something is stored: that is moved aside, and kept.")
    ] = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Bring a backup into a store that is empty, be it sound or not.

    Stopped or killed, it goes on when it is run again without --replace.
    """
    configure_logs(LogSettings(level="warning"))
    if replace and platform:
        fail("--replace is for a data directory; of the platform, empty the engines' volumes first", code=2)
    _import(path, data_dir, platform, keys=True, restoring=True, replace=replace)


@asynccontextmanager
async def _source(data_dir: Path | None, platform: bool) -> AsyncIterator[tuple[ExportSource, KeyRing]]:
    if platform:
        from vicw_standalone.archive.platform import open_source as open_platform

        async with open_platform() as opened:
            yield opened
        return
    # An image of the platform is without the embedded stores.
    from vicw_standalone.archive.embedded import open_source

    async with open_source(read_settings(data_dir=data_dir)) as found:
        yield found


@asynccontextmanager
async def _target(data_dir: Path | None, platform: bool) -> AsyncIterator[ImportTarget]:
    if platform:
        from vicw_standalone.archive.platform import open_target as open_platform

        async with open_platform() as opened:
            yield opened
        return
    from vicw_standalone.archive.embedded import open_target

    async with open_target(read_settings(data_dir=data_dir)) as found:
        yield found


def _export(
    to: Path,
    tenant: str | None,
    context: str | None,
    with_keys: bool,
    without_vectors: bool,
    data_dir: Path | None,
    platform: bool,
) -> tuple[Manifest, Path]:
    from vicw_shared.archive.writer import ArchiveWriter
    from vicw_sleep.archive.exporter import ExportSelection, ExportSource, export

    configure_logs(LogSettings(level="warning"))

    async def run(progress: Progress) -> Manifest:
        async with _source(data_dir, platform) as (opened, ring):
            source = ExportSource(graph=opened.graph) if without_vectors else opened
            found = [key for key in await ring.keys() if tenant in {None, key.tenant}] if with_keys else []
            wanted = ExportSelection(tenant=tenant, context=context, keys=found)
            with ArchiveWriter(to) as writer:
                return await export(source, writer, load_registries(), wanted, program=__version__, progress=progress)

    with progress_bar("exporting") as progress:
        return asyncio.run(run(progress)), to


def _say_export(manifest: Manifest, path: Path) -> None:
    edges = manifest.rows(["edges.jsonl"])
    nodes = counted(manifest.rows(manifest.node_files), "node")
    counts = f"{nodes}, {counted(edges, 'edge')}, {counted(manifest.vectors, 'vector')}"
    out.print(f"{path}: {counts}", markup=False)
    if manifest.model is None:
        err.print("without vectors: an import embeds everything again", markup=False)
    for what, count in manifest.left_out.items():
        err.print(f"left out: {count} {what} to items that are not exported", markup=False)


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
    from vicw_shared.archive.manifest import KEYS
    from vicw_shared.archive.reader import ArchiveReader
    from vicw_sleep.archive.importer import import_archive
    from vicw_sleep.archive.validator import validate
    from vicw_standalone.archive.backups import unpacked

    with unpacked(path) as folder, progress_bar("checking") as progress:
        judged = validate(ArchiveReader(folder), load_registries().edges, progress)

        async def run() -> ImportResult:
            async with _target(data_dir, platform) as target:
                wanted = target if keys else target.without_keys()
                return await import_archive(judged, wanted, progress, restoring=restoring)

        if not check:
            if replace:
                _make_room(data_dir)
            result = asyncio.run(run())
    if check:
        out.print(f"{path}: each record is sound", markup=False)
        return
    out.print(f"{counted(result.nodes, 'node')}, {counted(result.edges, 'edge')}, {counted(result.vectors, 'vector')}")
    if left := judged.reader.manifest.vectors - result.vectors:
        err.print(f"{counted(left, 'vector')} not imported: the server embeds these passages anew")
    if KEYS in judged.reader.manifest.files and not keys:
        err.print("its API keys were left out; --keys takes them in", markup=False)
    if restoring:
        out.print(f"`vicw check{' --platform' if platform else ''}` proves that the store is sound", markup=False)
        return
    for violation in result.violations:
        out.print(harmless(violation), markup=False)
    if result.violations:
        fail(
            "the store is not sound, so the import is not complete: export again from a store that `vicw check` "
            "finds clean. `vicw forget import` abandons this import; `vicw restore` loads the export unchecked into "
            "an empty store"
        )
    out.print("clean")


def _make_room(data_dir: Path | None) -> None:
    """Move what is stored aside, whatever it is: also what cannot be opened. For that there are backups."""
    from vicw_standalone.archive.embedded import move_aside
    from vicw_standalone.wiring import GRAPH

    path = read_settings(data_dir=data_dir).storage.data_dir
    if (path / GRAPH).exists():
        aside = move_aside(path, f"replaced-{now():%Y%m%dT%H%M%SZ}")
        err.print(f"the previous data is in {aside} now", markup=False)
