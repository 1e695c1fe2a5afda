"""``vicw import``, ``backup`` and ``restore``, and what ``vicw export`` does for a graph."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vicw_runtime.console import err, fail, harmless, out, progress_bar
from vicw_runtime.logs import configure_logs
from vicw_runtime.operations.command import (
    DataDirOption,
    Place,
    PlatformOption,
    run_command,
)
from vicw_runtime.terminal.json_option import JsonOption, print_json
from vicw_shared.clock import now
from vicw_shared.extensions import load_registries
from vicw_shared.settings import LogSettings, StorageSettings
from vicw_shared.settings.variables import named_by_variable
from vicw_shared.text import counted

if TYPE_CHECKING:
    from vicw_sleep.archive.api import ExportRequest, ExportResult

FromArgument = Annotated[Path, typer.Argument(help="Folder of an export, or .tar.gz of a backup.")]


def register(app: typer.Typer) -> None:
    """Add the subcommands."""
    app.command("import")(import_command)
    app.command("backup")(backup_command)
    app.command("restore")(restore_command)


def export_graph(
    ctx: typer.Context,
    to: Path,
    tenant: str | None,
    context: str | None,
    place: Place,
    *,
    keys: bool,
    vectors: bool,
    as_json: bool,
) -> None:
    """Export into a folder, and print the counts: the work of ``vicw export``."""
    from vicw_sleep.archive.api import ExportRequest

    request = ExportRequest(to=_local(to), tenant=tenant, context=context, keys=keys, vectors=vectors)
    _say_export(_export(ctx, request, place), to, as_json=as_json)


def import_command(
    ctx: typer.Context,
    path: FromArgument,
    check: Annotated[bool, typer.Option("--check", help="Only check whether the export could be imported.")] = False,
    keys: Annotated[
        bool, typer.Option("--keys", help="Also import the API keys; the author of the export may know one of them.")
    ] = False,
    as_json: JsonOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Import an export into a store of either kind.

    Every record is validated first: an invalid one is refused with its file, line and field, and nothing is stored. The
    store must hold no data of the export's tenants. After the import the store is checked as by `vicw check`; the
    import is complete only if that is clean. After a stop or kill it resumes when it is run again. A server that has
    the data directory open does the work; its jobs rest meanwhile. Nobody may write to these tenants until the import
    is complete; on the platform, stop all that does. Vectors are imported if the model is the same or the store has
    none yet; otherwise the server embeds the passages.

    For files, folders and chats use `vicw ingest`.
    """
    if check:
        _check(path)
        if as_json:
            print(json.dumps({"path": str(path), "valid": True}))
        else:
            out.print(f"{path}: every record is valid", markup=False)
        return
    violations = _import(ctx, path, Place(data_dir, platform), keys=keys, as_json=as_json)
    for violation in () if as_json else violations:
        out.print(harmless(violation), markup=False)
    if violations:
        fail(
            "the store breaks invariants, so the import is not complete: export again from a store that `vicw check` "
            "finds clean. `vicw forget import` abandons this import; `vicw restore` loads the export unchecked into "
            "an empty store"
        )
    if not as_json:
        out.print("clean")


def backup_command(
    ctx: typer.Context,
    to: Annotated[Path, typer.Option(help="Folder of the backups.")],
    keep: Annotated[int | None, typer.Option(help="Number of backups to keep, including this one.", min=1)] = None,
    compress: Annotated[bool, typer.Option("--compress", help="Pack the backup into one .tar.gz.")] = False,
    as_json: JsonOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Export everything, with API keys, into a new folder named by the time; then remove older backups (--keep)."""
    from vicw_sleep.archive.api import ExportRequest
    from vicw_sleep.archive.backups import name_at, pack, prune

    path = to / name_at(now())
    done = _export(ctx, ExportRequest(to=_local(path), keys=True), Place(data_dir, platform))
    if compress:
        path = pack(path)
    removed = [str(old) for old in prune(path, keep)] if keep is not None else []
    _say_export(done, path, as_json=as_json, removed=removed)
    for old in () if as_json else removed:
        out.print(f"removed {old}", markup=False)


def restore_command(
    ctx: typer.Context,
    path: FromArgument,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Move existing data aside, where it is kept, and restore. No server may run."),
    ] = False,
    as_json: JsonOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Restore a backup into an empty store, without checking its invariants.

    After a stop or kill it resumes when it is run again without --replace.
    """
    if replace and platform:
        fail("--replace needs a data directory; on the platform, empty the engines' volumes first", code=2)
    if replace:
        _check(path)
        _make_room(data_dir)
    _import(ctx, path, Place(data_dir, platform), keys=True, restoring=True, as_json=as_json)
    (err if as_json else out).print(f"`vicw check{' --platform' if platform else ''}` checks the store", markup=False)


def _local(path: Path) -> str:
    return str(path.expanduser().absolute())


def _export(ctx: typer.Context, request: ExportRequest, place: Place) -> ExportResult:
    from vicw_sleep.archive.api import EXPORT

    return run_command(ctx, EXPORT, request, place, progress="exporting")


def _say_export(done: ExportResult, path: Path, *, as_json: bool, removed: Sequence[str] = ()) -> None:
    if as_json:
        print_json(done, {"path": str(path), "removed": tuple(removed)})
        return
    counts = f"{counted(done.nodes, 'node')}, {counted(done.edges, 'edge')}, {counted(done.vectors, 'vector')}"
    out.print(f"{path}: {counts}", markup=False)
    if done.model is None:
        err.print("without vectors: an import embeds all passages again", markup=False)
    for kind, count in done.left_out.items():
        left_out = counted(count, kind.removesuffix("s"))
        err.print(f"left out: {left_out} to items that are not exported", markup=False)
    if done.erased_meanwhile:
        err.print(
            f"something was erased from the store meanwhile, and may be in {path}: export again, and remove this one",
            markup=False,
        )


def _import(
    ctx: typer.Context, path: Path, place: Place, *, keys: bool, as_json: bool, restoring: bool = False
) -> tuple[str, ...]:
    """Import, and print the counts; return the violations."""
    from vicw_sleep.archive.api import IMPORT, ImportRequest

    request = ImportRequest(path=_local(path), keys=keys, restoring=restoring)
    done = run_command(ctx, IMPORT, request, place, progress="checking", as_json=as_json)
    if as_json:
        return done.violations
    out.print(f"{counted(done.nodes, 'node')}, {counted(done.edges, 'edge')}, {counted(done.vectors, 'vector')}")
    if done.missing_vectors:
        err.print(f"{counted(done.missing_vectors, 'vector')} not imported: the server embeds these passages")
    if done.other_keys:
        err.print("the API keys were not imported; --keys imports them", markup=False)
    return done.violations


def _check(path: Path) -> None:
    """Validate an export, without a store. Raises InvalidInputError for an invalid record."""
    from vicw_core.archive.reader import ArchiveReader
    from vicw_sleep.archive.backups import unpacked
    from vicw_sleep.archive.validator import validate

    configure_logs(LogSettings(level="warning"))
    with unpacked(path) as folder, progress_bar("checking") as progress:
        validate(ArchiveReader(folder), load_registries().edges, progress)


def _make_room(data_dir: Path | None) -> None:
    """Move the stored data aside, even if it cannot be opened: then a backup is needed most."""
    from vicw_shared.errors import DataDirInUseError
    from vicw_stores.aside import move_aside

    with named_by_variable():
        settings = StorageSettings() if data_dir is None else StorageSettings(data_dir=data_dir.expanduser().absolute())
    try:
        aside = move_aside(settings.data_dir, f"replaced-{now():%Y%m%dT%H%M%SZ}")
    except DataDirInUseError as error:
        fail(f"--replace moves the present data aside, which no process may have open. {error.detail}")
    if aside is not None:
        err.print(f"the previous data is now in {aside}", markup=False)
