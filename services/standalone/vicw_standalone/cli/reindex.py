"""``vicw reindex``: change the embedding model, or rebuild a lost index."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vicw_runtime.logs import configure_logs
from vicw_runtime.operations.command import DataDirOption, PlatformOption
from vicw_runtime.operations.console import INTERRUPTED, err, fail, out, problem, progress_bar
from vicw_shared.embedding_models import MODELS
from vicw_shared.settings import LogSettings, StorageSettings
from vicw_shared.text import counted
from vicw_standalone.settings import read_settings
from vicw_standalone.terminal.server_client import UrlOption
from vicw_stores.data_dir import DataDir

if TYPE_CHECKING:
    from vicw_sleep.reindex.model import ReindexReport
    from vicw_sleep.reindex.service import Reindexing


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    app.command("reindex")(reindex_command)


def reindex_command(
    data_dir: DataDirOption = None,
    model: Annotated[
        str | None,
        typer.Option(help="New embedding model: as for `vicw serve`, or its name on an embedding server."),
    ] = None,
    platform: PlatformOption = False,
    drop_old: Annotated[bool, typer.Option("--drop-old", help="Remove the indexes that are not in use.")] = False,
    status: Annotated[
        bool, typer.Option("--status", help="Show which index is in use, and the progress of a change.")
    ] = False,
    url: UrlOption = None,
) -> None:
    """Change the embedding model, or repair the vector index. Running servers keep answering.

    A change builds a second index and swaps the two when the new one agrees with the graph; the old index is kept until
    --drop-old. Without --model, an unfinished change is resumed; if there is none, missing passages are embedded, for
    example after the index folder was lost.

    A server that has the data directory open does the work. After a kill or Ctrl-C the old index stays in use; run the
    command again to continue.

    Exit code 1 on failure, 130 after Ctrl-C.
    """
    if sum((model is not None, drop_old, status)) > 1:
        fail("--model, --drop-old and --status exclude each other", code=2)
    if model is not None and model not in MODELS and Path(model).expanduser().is_file():
        model = str(Path(model).expanduser().absolute())
    configure_logs(LogSettings(level="warning"))
    if platform:
        from vicw_standalone.index_engines.qdrant import open_reindexing as open_platform

        _in_process(open_platform(), model, drop_old, status, " --platform")
        return
    settings = read_settings(data_dir=data_dir, model=model)
    server = url or DataDir.read_address(settings.storage.data_dir)
    if server is not None:
        _on_server(server, model, drop_old, status)
        return
    # The platform's image has no embedded stores.
    from vicw_standalone.index_engines.edge import open_reindexing

    _in_process(open_reindexing(settings), model, drop_old, status)
    _warn_overridden(model)


def _in_process(
    opened: AbstractAsyncContextManager[Reindexing], model: str | None, drop_old: bool, status: bool, option: str = ""
) -> None:
    def run[T](work: Callable[[Reindexing], Awaitable[T]]) -> T:
        async def opened_run() -> T:
            async with opened as reindexing:
                return await work(reindexing)

        try:
            return asyncio.run(opened_run())
        except KeyboardInterrupt:
            problem("stopped. The index in use is unchanged; run the same command again to continue")
            raise typer.Exit(INTERRUPTED) from None

    if status:
        _print(run(lambda reindexing: reindexing.status()).lines())
    elif drop_old:
        _print_dropped(map(str, run(lambda reindexing: reindexing.drop_old())))
    else:
        with progress_bar("reindexing") as report:
            done = run(lambda reindexing: reindexing.run(model, report))
        _print_done(done, option)


def _on_server(url: str, model: str | None, drop_old: bool, status: bool) -> None:
    from vicw_standalone.remote import Remote

    with Remote(url) as server:
        if status:
            _print(server.state().status)
        elif drop_old:
            _print_dropped(server.drop_old())
        else:
            server.start(model)
            try:
                with progress_bar("reindexing") as report:
                    done = server.watch(report)
            except KeyboardInterrupt:
                problem("the server continues; `vicw reindex --status` shows the progress")
                raise typer.Exit(INTERRUPTED) from None
            out.print(f"{counted(done.embedded, 'passage')} embedded with {done.model}", markup=False)
            _print_kept(done.before, done.passages)
            _warn_overridden(model)


def _print_done(done: ReindexReport, option: str = "") -> None:
    out.print(f"{counted(done.embedded, 'passage')} embedded with {done.model.name}", markup=False)
    kept = done.before is not None and done.before.has_vectors
    _print_kept(str(done.before) if kept else None, done.passages, option)


def _print_kept(before: str | None, passages: int, option: str = "") -> None:
    err.print(f"{counted(passages, 'passage')} in the store", markup=False)
    if before is not None:
        err.print(f"The index of {before} is kept; `vicw reindex{option} --drop-old` removes it", markup=False)


def _warn_overridden(model: str | None) -> None:
    """Warn if the settings of the next start name another model than the store now uses, or none."""
    if model is not None and StorageSettings().embedder == "none":
        err.print(
            "VICW_EMBEDDER is none: unset it before the next start; otherwise answers have no vectors",
            markup=False,
        )
    named = os.environ.get("VICW_EMBEDDING_MODEL")
    if model is not None and named is not None and named != model:
        err.print(
            f"VICW_EMBEDDING_MODEL is {named}: set it to {model}, or unset it, before the next start", markup=False
        )


def _print_dropped(dropped: Iterable[str]) -> None:
    lines = [f"Removed the index of {model}" for model in dropped]
    _print(lines or ["There is no unused index"])


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        out.print(line, markup=False)
