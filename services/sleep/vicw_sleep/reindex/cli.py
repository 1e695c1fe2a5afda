"""``vicw reindex``: change the embedding model, or rebuild a lost index."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from vicw_runtime.console import INTERRUPTED, err, fail, out, problem
from vicw_runtime.operations.command import DataDirOption, Place, PlatformOption, ServerOption, run_command
from vicw_runtime.terminal.json_option import JsonOption
from vicw_shared.embedding_models import MODELS
from vicw_shared.settings import StorageSettings
from vicw_shared.text import counted


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    app.command("reindex")(reindex_command)


def reindex_command(
    ctx: typer.Context,
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
    as_json: JsonOption = False,
    url: ServerOption = None,
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
    if model is not None and not model.strip():
        raise typer.BadParameter("--model is empty")
    place = Place(data_dir, platform, url)
    if status:
        _show_status(ctx, place, as_json)
    elif drop_old:
        _drop_old(ctx, place, as_json)
    else:
        _reindex(ctx, model, place, as_json)


def _show_status(ctx: typer.Context, place: Place, as_json: bool) -> None:
    from vicw_sleep.reindex.api import STATUS, ReindexStatusRequest

    shown = run_command(ctx, STATUS, ReindexStatusRequest(), place, as_json=as_json)
    for line in () if as_json else shown.lines:
        out.print(line, markup=False)


def _drop_old(ctx: typer.Context, place: Place, as_json: bool) -> None:
    from vicw_sleep.reindex.api import DROP_OLD, DropOldRequest

    dropped = run_command(ctx, DROP_OLD, DropOldRequest(), place, as_json=as_json).models
    if as_json:
        return
    for line in [f"Removed the index of {model}" for model in dropped] or ["There is no unused index"]:
        out.print(line, markup=False)


def _reindex(ctx: typer.Context, model: str | None, place: Place, as_json: bool) -> None:
    from vicw_sleep.reindex.api import REINDEX, ReindexRequest

    if model is not None and model not in MODELS and Path(model).expanduser().exists():
        model = str(Path(model).expanduser().absolute())
    is_served = ctx.obj.server(place) is not None
    try:
        done = run_command(ctx, REINDEX, ReindexRequest(model=model), place, progress="reindexing", as_json=as_json)
    except KeyboardInterrupt:
        if is_served:
            problem("the server continues; `vicw reindex --status` shows the progress")
        else:
            problem("stopped. The index in use is unchanged; run the same command again to continue")
        raise typer.Exit(INTERRUPTED) from None
    if not as_json:
        out.print(f"{counted(done.embedded, 'passage')} embedded with {done.model}", markup=False)
    err.print(f"{counted(done.passages, 'passage')} in the store", markup=False)
    if done.before is not None:
        option = " --platform" if place.platform else ""
        err.print(f"The index of {done.before} is kept; `vicw reindex{option} --drop-old` removes it", markup=False)
    if model is not None and not place.platform:
        _warn_overridden(model)


def _warn_overridden(model: str) -> None:
    """Warn if the settings of the next start name another model than the store now uses, or none."""
    if StorageSettings().embedder == "none":
        err.print(
            "VICW_EMBEDDER is none: unset it before the next start; otherwise answers have no vectors",
            markup=False,
        )
    named = os.environ.get("VICW_EMBEDDING_MODEL")
    if named is not None and named != model:
        err.print(
            f"VICW_EMBEDDING_MODEL is {named}: set it to {model}, or unset it, before the next start", markup=False
        )
