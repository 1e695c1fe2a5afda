"""``vicw ingest``: send files and folders to a running server."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vicw_runtime.console import INTERRUPTED, err, fail, problem
from vicw_runtime.terminal.completion import contexts as complete_contexts
from vicw_shared.model import Sensitivity
from vicw_standalone.terminal.console import interruptible
from vicw_standalone.terminal.import_options import account_name, encoding_name, format_name, list_formats, zone_name
from vicw_standalone.terminal.server_client import UrlOption, connect, hint, require_server

if TYPE_CHECKING:  # what only a run needs is imported by it
    from rich.progress import Progress

    from vicw_readers.intake.source_file import ImportOptions
    from vicw_standalone.knowledge.cli import SyncOptions

_DRY_ITEMS = 20
"""Items that a dry run shows without --verbose."""
_SECONDS_BETWEEN_LINES = 10.0
_NOT_OF_PAGES = (
    "is not for --knowledge: a page is public, has no flow, is read as its suffix says, and its times without a zone "
    "are UTC. Leave it out, or import without --knowledge"
)


def _path(text: str) -> Path:
    """Parse a path. An empty one, from an unset shell variable, must not mean the current folder."""
    if not text:
        raise typer.BadParameter("is empty: name a file or a folder")
    path = Path(text)
    if not os.path.lexists(path):
        raise typer.BadParameter(f"{text} does not exist")
    if path.is_dir() and _is_archive(path):
        raise typer.BadParameter(f"{text} is an export: `vicw import {text}` imports it into a store")
    return path


def _is_archive(path: Path) -> bool:
    from vicw_core.archive.writer import is_archive

    return is_archive(path)


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    app.command()(ingest)


def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders.", parser=_path, metavar="PATH…")],
    context: Annotated[
        str | None,
        typer.Option(
            help="Context to store them in. \\[default: the folder's or file's name]", autocompletion=complete_contexts
        ),
    ] = None,
    domain: Annotated[
        str | None, typer.Option(help="coding, creative, general, or your own. \\[default: by kind of file]")
    ] = None,
    flow: Annotated[str | None, typer.Option(help="Flow of the items: their logical thread.")] = None,
    sensitivity: Annotated[
        Sensitivity | None,
        typer.Option(help="Who sees them. \\[default: personal for mail and people's chats, else public]"),
    ] = None,
    owner: Annotated[
        str | None, typer.Option(help="Whom what is not public is about. \\[default: the name of your account]")
    ] = None,
    timezone: Annotated[
        str, typer.Option(help="Time zone of times without one.", parser=zone_name, metavar="ZONE")
    ] = "UTC",
    format_: Annotated[
        str | None,
        typer.Option(
            "--format", help="Format of all files. \\[default: by content]", parser=format_name, metavar="NAME"
        ),
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(help="Encoding of texts that are not UTF-8.", parser=encoding_name, metavar="NAME")
    ] = None,
    include: Annotated[
        list[str] | None, typer.Option(help="Read only these files of folders: a pattern as of .gitignore. Repeatable.")
    ] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="Leave these files of folders out. Repeatable.")] = None,
    dry: Annotated[bool, typer.Option("--dry-run", help="Send nothing: show what would be stored.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="List all that was not read.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON, for programs.")] = False,
    show_formats: Annotated[
        bool, typer.Option("--list-formats", help="List the formats, and end.", is_eager=True, callback=list_formats)
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="Also send items that an earlier run stored.")] = False,
    no_wait: Annotated[
        bool, typer.Option("--no-wait", help="Return as soon as everything is stored, before it is indexed.")
    ] = False,
    knowledge: Annotated[
        bool, typer.Option("--knowledge", help="Sync folders as knowledge: pages, their links, code.")
    ] = False,
    folder: Annotated[
        str | None,
        typer.Option(help="With --knowledge: name of the knowledge folder on the server. \\[default: its name]"),
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="With --knowledge: keep running and follow changes until Ctrl-C.")
    ] = False,
    every: Annotated[float, typer.Option(help="With --watch: seconds between two checks.", min=0.1)] = 2.0,
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="With --knowledge: retract all pages if the folder has none left.")
    ] = False,
    url: UrlOption = None,
) -> None:
    """Ingest files: notes, text, source code, chats, exports of assistants, JSON Lines of items.

    A format is told by its content; --list-formats says what is kept of each. Folders are walked and .zip files
    opened; hidden files and those that .gitignore names are left out. Markdown is cut at headings, code at
    definitions; ids are path#anchor, so a second run updates what has changed. A stopped import resumes when it is run
    again. Ctrl-C stops it after the requests in flight, a second Ctrl-C at once. Exit code 1 if anything was refused,
    2 if the import could not continue, 130 after Ctrl-C.

    With --knowledge a folder becomes pages, sections and code with links between them, and bridges to memories. Later
    runs send changed and moved pages and retract deleted ones. Broken links are listed, which is no error. Chats, mail
    and archives are refused: a page is public.
    """
    from zoneinfo import ZoneInfo

    from vicw_readers.intake.source_file import ImportOptions

    if not knowledge and (watch or folder is not None or allow_empty):
        fail("--watch, --folder and --allow-empty need --knowledge", code=2)
    options = ImportOptions(
        context=context,
        domain=domain,
        flow=flow,
        owner=owner or account_name(),
        sensitivity=sensitivity,
        timezone=ZoneInfo(timezone),
        format=format_,
        encoding=encoding,
        include=tuple(include or ()),
        exclude=tuple(exclude or ()),
    )
    if knowledge:
        said = (flow and "--flow", owner and "--owner", sensitivity and "--sensitivity", format_ and "--format")
        if wrong := [*filter(None, said), *(["--timezone"] if timezone != "UTC" else [])]:
            fail(f"{' and '.join(wrong)} {_NOT_OF_PAGES}", code=2)
        if watch and dry:
            fail("--watch follows what is stored, and --dry-run stores nothing: leave one out", code=2)
        from vicw_standalone.knowledge.cli import SyncOptions

        wait = not no_wait
        sync = SyncOptions(context, folder, domain, watch, every, again, wait, allow_empty, options, verbose, as_json)
        _sync(paths, sync, url, dry=dry)
    elif dry:
        _dry_run(paths, options, verbose=verbose, as_json=as_json)
    else:
        _import(paths, options, url, again=again, wait=not no_wait, verbose=verbose, as_json=as_json)


def _sync(paths: list[Path], sync: SyncOptions, url: str | None, *, dry: bool) -> None:
    from vicw_standalone.file_import.service import IMPORT_RETRY
    from vicw_standalone.knowledge.cli import require_folders, show_folders, sync_folders

    require_folders(paths, only_one=sync.watch or sync.folder is not None)
    if dry:
        show_folders(paths, sync)
        return
    with connect(url, IMPORT_RETRY) as client:
        require_server(client)
        sync_folders(client, paths, sync)


def _import(
    paths: list[Path],
    options: ImportOptions,
    url: str | None,
    *,
    again: bool,
    wait: bool,
    verbose: bool,
    as_json: bool,
) -> None:
    from vicw_standalone.file_import.roots import ContextTakenError
    from vicw_standalone.file_import.service import IMPORT_RETRY, ImportStoppedError, import_paths
    from vicw_standalone.terminal.import_report import print_summary, summary_as_json

    bar = _bar()
    with connect(url, IMPORT_RETRY) as client, bar:
        require_server(client)
        task = bar.add_task("items", total=None)
        lines = _progress_lines()

        def tell(done: int, total: int | None) -> None:
            bar.update(task, completed=done, total=total)
            lines(done, total)

        try:
            with interruptible(_stopping, lambda: _stopped(bar)) as stop:
                summary = import_paths(
                    client, paths, options=options, progress=tell, again=again, wait_until_found=wait, stop=stop
                )
        except ImportStoppedError as error:
            bar.stop()
            if as_json:
                typer.echo(summary_as_json(error.summary, error=str(error)))
            else:
                print_summary(error.summary, verbose=verbose)
            fail(f"{error}{hint(error.__cause__)}", code=2 if error.__cause__ else INTERRUPTED)
        except ContextTakenError as error:
            bar.stop()
            fail(str(error), code=2)
        except OSError as error:
            bar.stop()
            fail(f"cannot write the record of this import ({error}); set XDG_STATE_HOME to a writable folder", code=2)
    if as_json:
        typer.echo(summary_as_json(summary))
    else:
        print_summary(summary, verbose=verbose)
    if summary.refused:
        raise typer.Exit(1)


def _dry_run(paths: list[Path], options: ImportOptions, *, verbose: bool, as_json: bool) -> None:
    from vicw_readers.records import SourceItem
    from vicw_standalone.file_import.dry_run import dry_run
    from vicw_standalone.terminal.import_report import item_as_json, print_item, print_summary, summary_as_json

    seen = 0

    def see(record: SourceItem) -> None:
        nonlocal seen
        seen += 1
        if as_json:
            typer.echo(item_as_json(record))
        elif verbose or seen <= _DRY_ITEMS:
            print_item(record)

    summary = dry_run(paths, options, see)
    if as_json:
        typer.echo(summary_as_json(summary, dry=True))
    else:
        if seen > _DRY_ITEMS and not verbose:
            err.print(f"…and {seen - _DRY_ITEMS} more items: --verbose lists all")
        print_summary(summary, verbose=verbose, dry=True)
    if summary.refused:
        raise typer.Exit(1)


def _progress_lines() -> Callable[[int, int | None], None]:
    """Return what says how far the import is, now and then, where the output is no terminal."""
    last = time.monotonic()

    def tell(done: int, total: int | None) -> None:
        nonlocal last
        if not err.is_terminal and time.monotonic() - last >= _SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            err.print(f"{done} items of {total or 'those read so far'} are done")

    return tell


def _bar() -> Progress:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("ingesting"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=err, transient=True)


def _stopping() -> None:
    err.print("stopping after the requests in flight; press Ctrl-C again to stop at once")


def _stopped(bar: Progress) -> None:
    bar.stop()
    problem("stopped at once. Acknowledged items are stored; run the same import again to continue")
