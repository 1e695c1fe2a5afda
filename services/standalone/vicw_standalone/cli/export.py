"""``vicw export``: of a whole graph, or of the items that pass a filter."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from vicw_runtime.console import err, fail, out
from vicw_runtime.operations.command import DataDirOption, Place, PlatformOption, run_command, tenant_name
from vicw_runtime.terminal.completion import contexts as complete_contexts
from vicw_runtime.terminal.json_option import FilterOption, JsonOption, print_json, read_filter
from vicw_shared.text import counted
from vicw_sleep.archive.cli import export_graph

if TYPE_CHECKING:
    from vicw_ingest.item_export.api import ExportedItem
    from vicw_shared.wire.filters import Filter


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    app.command()(export)


def export(
    ctx: typer.Context,
    to: Annotated[
        Path,
        typer.Option(
            help="Folder to write: new, empty, or an earlier export, which is replaced. With --filter a new file."
        ),
    ],
    tenant: Annotated[str | None, typer.Option(help="Only this tenant. \\[default: all]", callback=tenant_name)] = None,
    context: Annotated[
        str | None,
        typer.Option(help="Only contexts of this name. \\[default: all]", autocompletion=complete_contexts),
    ] = None,
    filter_: FilterOption = None,
    keys: Annotated[bool, typer.Option("--keys", help="Include the digests of all API keys.")] = False,
    no_vectors: Annotated[
        bool, typer.Option("--no-vectors", help="Without vectors: an import embeds all passages again.")
    ] = False,
    as_json: JsonOption = False,
    data_dir: DataDirOption = None,
    platform: PlatformOption = False,
) -> None:
    """Export the store into a folder of readable files: JSONL, edges, vectors, a manifest.

    A server that has the data directory open writes it, and goes on answering and storing: each context is written as
    of a single moment. After a stop or kill no folder of that name is left.

    With --filter it writes one file of the live items that pass, as `vicw ingest` reads them, each with its context; of
    the tenant `default`, unless --tenant names one.
    """
    chosen, place = read_filter(filter_), Place(data_dir, platform)
    if chosen is None:
        export_graph(ctx, to, tenant, context, place, keys=keys, vectors=not no_vectors, as_json=as_json)
    elif keys or no_vectors:
        fail("--filter exports items, without keys and vectors: leave --keys and --no-vectors out", code=2)
    else:
        _export_items(ctx, to, chosen, tenant or "default", context, place, as_json=as_json)


def _export_items(
    ctx: typer.Context, to: Path, chosen: Filter, tenant: str, context: str | None, place: Place, *, as_json: bool
) -> None:
    from vicw_ingest.item_export.api import EXPORT_ITEMS, ExportItemsRequest

    request = ExportItemsRequest(filter=chosen, tenant=tenant, context=context)
    with _new_file(to) as file:

        def write(one: ExportedItem) -> None:
            file.write(json.dumps(one.item, ensure_ascii=False) + "\n")

        done = run_command(ctx, EXPORT_ITEMS, request, place, progress="exporting", on_item=write)
    if as_json:
        print_json(done)
        return
    out.print(f"{to}: {counted(done.items, 'item')}", markup=False)
    if done.left_out:
        err.print(f"left out: {counted(done.left_out, 'item')} whose extraction an earlier version did not keep")


@contextmanager
def _new_file(to: Path) -> Iterator[TextIO]:
    """Open a new file that only its owner reads; it is removed again if the export is not completed."""
    try:
        to.touch(mode=0o600, exist_ok=False)
    except FileExistsError:
        fail(f"{to} exists: name a new file", code=2)
    except OSError as error:
        fail(f"{to} cannot be written: {error.strerror}", code=2)
    try:
        with to.open("w", encoding="utf-8") as file:
            yield file
    except BaseException:
        to.unlink(missing_ok=True)
        raise
