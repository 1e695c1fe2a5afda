"""``vicw ingest --knowledge``: sync folders with a server."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer
from rich.markup import escape
from rich.table import Table

from vicw_client import VicwClient
from vicw_ingest.file_import.summary import Summary
from vicw_readers.intake.source_file import ImportOptions
from vicw_runtime.console import INTERRUPTED, err, fail, harmless, out, problem, progress_bar
from vicw_shared.text import counted
from vicw_shared.wire.knowledge import LinkFault, LinkProblem
from vicw_standalone.file_import.roots import FolderTakenError, claim_folder
from vicw_standalone.file_import.service import ImportStoppedError, default_state_path, store_behind
from vicw_standalone.knowledge.folder import read_folder
from vicw_standalone.knowledge.service import EmptiedError, FolderTarget, SyncReport, sync, watch
from vicw_standalone.terminal.console import interruptible
from vicw_standalone.terminal.import_report import print_read, print_unread, summary_as_json
from vicw_standalone.terminal.server_client import hint

_SHOWN_LINKS = 20
_SHOWN_PAGES = 20
"""Pages that a dry run shows without --verbose."""
_FAULTS = {
    LinkFault.MISSING: "does not exist",
    LinkFault.HEADING: "names a heading that the page does not have",
    LinkFault.AMBIGUOUS: "may mean several pages",
}


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """Options of the command; None: the default."""

    context: str | None
    folder: str | None
    domain: str | None
    watch: bool
    every_seconds: float
    again: bool
    wait: bool
    allow_empty: bool
    files: ImportOptions
    verbose: bool = False
    as_json: bool = False


def require_folders(paths: Sequence[Path], *, only_one: bool) -> None:
    """End the command with code 2 unless the paths are folders, and one if it must be."""
    if any(not path.is_dir() for path in paths):
        fail("--knowledge takes folders: name the folder of the files", code=2)
    if only_one and len(paths) > 1:
        fail("--watch and --folder allow only one folder", code=2)


def show_folders(paths: Sequence[Path], options: SyncOptions) -> None:
    """Print what would be pages of folders, without a server. Exit code 1 if anything was refused."""
    refused = False
    for path in paths:
        snapshot = read_folder(path, options.files)
        summary = Summary()
        for record in snapshot.reports:
            summary.report(record)
        for page in snapshot.pages.values():
            summary.items[page.reader] += 1
            summary.files[page.reader] += 1
        refused |= bool(summary.refused)
        pages = sorted(snapshot.pages)
        if options.as_json:
            typer.echo(summary_as_json(summary, dry=True, folder=_folder_of(path, options), pages=pages))
            continue
        for name in pages if options.verbose else pages[:_SHOWN_PAGES]:
            out.print(_shown(name), highlight=False, soft_wrap=True)
        if len(pages) > _SHOWN_PAGES and not options.verbose:
            err.print(f"…and {len(pages) - _SHOWN_PAGES} more pages: --verbose lists all")
        out.print(f"{counted(len(pages), 'page')} of folder [bold]{_shown(_folder_of(path, options))}[/]")
        print_read(summary)
        print_unread(summary, verbose=options.verbose)
    if refused:
        raise typer.Exit(1)


def sync_folders(client: VicwClient, paths: Sequence[Path], options: SyncOptions) -> None:
    """Sync folders with the server. Exit codes are those of `vicw ingest`; 0 after watching."""
    with interruptible(lambda: _stopping(options), _stopped) as stop:
        refused = False
        for path in paths:
            target = _target(client, path, options)
            if options.watch:
                _watch(client, path, target, options, stop)
            else:
                refused |= _once(client, path, target, options, stop)
    if refused:
        raise typer.Exit(1)


def _target(client: VicwClient, path: Path, options: SyncOptions) -> FolderTarget:
    root = path.resolve()
    folder = _folder_of(path, options)
    target = FolderTarget(folder, options.context or folder, options.domain)
    if options.folder is None:
        store = store_behind(client)
        register = default_state_path(store, [path]).with_name("contexts.json")
        try:
            claim_folder(register, store, target.context, root)
        except FolderTakenError as error:
            fail(str(error), code=2)
        except OSError as error:
            fail(
                f"cannot write the record of knowledge folders ({error}); set XDG_STATE_HOME to a writable folder",
                code=2,
            )
    return target


def _folder_of(path: Path, options: SyncOptions) -> str:
    return options.folder or path.resolve().name or "files"


def _once(client: VicwClient, path: Path, target: FolderTarget, options: SyncOptions, stop: threading.Event) -> bool:
    """Sync a folder once; return whether anything was refused."""
    try:
        synced = _sync(client, path, target, options, stop)
    except ImportStoppedError as error:
        print_unread(error.summary, verbose=options.verbose)
        fail(f"{error}{hint(error.__cause__)}", code=2 if error.__cause__ else INTERRUPTED)
    except EmptiedError as error:
        fail(str(error), code=2)
    _print(synced, target, options)
    return bool(synced.sent.refused)


def _watch(client: VicwClient, path: Path, target: FolderTarget, options: SyncOptions, stop: threading.Event) -> None:
    first = True

    def changed() -> bool:
        nonlocal first
        try:
            synced = _sync(client, path, target, options, stop)
        except (ImportStoppedError, EmptiedError) as error:
            if not stop.is_set():
                problem(f"{error}. Retrying")
            return False
        if first or synced.changed:
            _print(synced, target, options)
        first = False
        return True

    err.print(f"watching {escape(str(path))}; Ctrl-C ends it")
    watch(path, options.every_seconds, stop, changed)
    err.print("stopped watching")


def _sync(
    client: VicwClient, path: Path, target: FolderTarget, options: SyncOptions, stop: threading.Event
) -> SyncReport:
    with progress_bar("pages") as report:
        return sync(
            client,
            path,
            target,
            options=options.files,
            progress=lambda done, total: report("pages", done, total or 0),
            stop=stop,
            wait_until_found=options.wait,
            again=options.again,
            may_be_empty=options.allow_empty,
        )


def _print(synced: SyncReport, target: FolderTarget, options: SyncOptions) -> None:
    sent = synced.sent
    if options.as_json:
        typer.echo(_as_json(synced, target))
        return
    table = Table(show_header=False, box=None)
    for name, count in (
        ("created", sent.created),
        ("updated", sent.updated),
        ("of these moved", synced.moved),
        ("unchanged", synced.same + sent.unchanged),
        ("retracted", synced.retracted),
        ("left as they were", synced.kept),
        ("files skipped", len(sent.passed_over)),
        ("refused", len(sent.refused)),
        ("broken links", len(synced.broken_links)),
    ):
        table.add_row(name, str(count))
    out.print(table)
    out.print(f"  folder [bold]{_shown(target.folder)}[/] in context [bold]{_shown(target.context)}[/]")
    for kind, count in sent.masked.most_common():
        out.print(f"  secrets masked in {count} {'page' if count == 1 else 'pages'}: {kind}")
    print_unread(sent, verbose=options.verbose)
    _print_links(synced.broken_links)


def _as_json(synced: SyncReport, target: FolderTarget) -> str:
    links = [{"path": path, **problem.model_dump(mode="json")} for path, problem in synced.broken_links]
    return summary_as_json(
        synced.sent,
        folder=target.folder,
        context=target.context,
        not_sent=synced.same,
        moved=synced.moved,
        retracted=synced.retracted,
        left_as_they_were=synced.kept,
        broken_links=links,
    )


def _print_links(links: Sequence[tuple[str, LinkProblem]]) -> None:
    for path, link in links[:_SHOWN_LINKS]:
        candidates = f": {', '.join(link.candidates)}" if link.candidates else ""
        line = f"{path}:{link.line}: {link.target} {_FAULTS[link.fault]}{candidates}"
        err.print(f"[yellow]link[/] {_shown(line)}")
    if len(links) > _SHOWN_LINKS:
        err.print(f"[yellow]…and {len(links) - _SHOWN_LINKS} more; GET /knowledge lists them all[/]")


def _shown(text: str) -> str:
    return escape(harmless(text))


def _stopping(options: SyncOptions) -> None:
    action = "watching" if options.watch else "after the requests in flight"
    err.print(f"stopping {action}; press Ctrl-C again to stop at once")


def _stopped() -> None:
    problem("stopped at once. Acknowledged pages are stored; run the same command again to continue")
