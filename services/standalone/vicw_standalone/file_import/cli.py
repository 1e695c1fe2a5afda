"""``vicw ingest``: send files and folders to a running server."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from vicw_runtime.console import INTERRUPTED, err, fail, out, problem
from vicw_runtime.terminal.completion import contexts as complete_contexts
from vicw_standalone.terminal.console import interruptible, print_refused
from vicw_standalone.terminal.server_client import UrlOption, connect, hint, require_server

if TYPE_CHECKING:  # what only a run needs is imported by it
    from rich.progress import Progress

    from vicw_standalone.file_import.service import Summary


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
    """Ingest files: Markdown, text, source code, JSONL of items, ChatGPT and Claude exports.

    Folders are walked; hidden files, binaries and files that .gitignore names are skipped. Markdown is cut at
    headings, code at definitions; ids are path#anchor, so a second run updates what has changed. A stopped import
    resumes when it is run again. Ctrl-C stops it after the requests in flight, a second Ctrl-C at once. Exit code 1
    if anything was refused, 2 if the import could not continue, 130 after Ctrl-C.

    With --knowledge a folder becomes pages, sections and code with links between them, and bridges to memories. Later
    runs send changed and moved pages and retract deleted ones. Broken links are listed, which is no error.
    """
    from vicw_readers.intake.source_file import ImportOptions
    from vicw_standalone.file_import.roots import ContextTakenError
    from vicw_standalone.file_import.service import IMPORT_RETRY, ImportStoppedError, import_paths

    if knowledge:
        from vicw_standalone.knowledge.cli import SyncOptions, sync_folders

        options = SyncOptions(context, folder, domain, watch, every, again, not no_wait, allow_empty)
        with connect(url, IMPORT_RETRY) as client:
            require_server(client)
            sync_folders(client, paths, options)
        return
    if watch or folder is not None or allow_empty:
        fail("--watch, --folder and --allow-empty need --knowledge", code=2)
    bar = _bar()
    with connect(url, IMPORT_RETRY) as client, bar:
        require_server(client)
        task = bar.add_task("items", total=None)
        try:
            with interruptible(_stopping, lambda: _stopped(bar)) as stop:
                summary = import_paths(
                    client,
                    paths,
                    options=ImportOptions(context, domain, flow),
                    progress=lambda done, total: bar.update(task, completed=done, total=total),
                    again=again,
                    wait_until_found=not no_wait,
                    stop=stop,
                )
        except ImportStoppedError as error:
            bar.stop()
            print_summary(error.summary)
            fail(f"{error}{hint(error.__cause__)}", code=2 if error.__cause__ else INTERRUPTED)
        except ContextTakenError as error:
            bar.stop()
            fail(str(error), code=2)
        except OSError as error:
            bar.stop()
            fail(f"cannot write the record of this import ({error}); set XDG_STATE_HOME to a writable folder", code=2)
    print_summary(summary)
    if summary.refused:
        raise typer.Exit(1)


def _bar() -> Progress:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("ingesting"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=err, transient=True)


def _stopping() -> None:
    err.print("stopping after the requests in flight; press Ctrl-C again to stop at once")


def _stopped(bar: Progress) -> None:
    bar.stop()
    problem("stopped at once. Acknowledged items are stored; run the same import again to continue")


def print_summary(summary: Summary) -> None:
    """Print the numbers of stored items, and the refused ones."""
    from rich.table import Table

    table = Table(show_header=False, box=None)
    for name, count in (
        ("created", summary.created),
        ("updated", summary.updated),
        ("unchanged", summary.unchanged),
        ("duplicates, linked", summary.linked),
        ("stored by an earlier run", summary.skipped),
        ("files skipped", len(summary.passed_over)),
        ("refused", len(summary.refused)),
    ):
        table.add_row(name, str(count))
    out.print(table)
    for context, count in summary.contexts.most_common():
        out.print(f"  {count} in context [bold]{escape(context)}[/]")
    for kind, count in summary.masked.most_common():
        out.print(f"  secrets masked in {count} {'item' if count == 1 else 'items'}: {kind}")
    if summary.jobs:
        requests = "1 request is" if len(summary.jobs) == 1 else f"{len(summary.jobs)} requests are"
        out.print(f"  everything is stored; {requests} still being indexed")
    print_refused(summary.refused)
