"""``vicw bench``: how much of the evidence is found, and how fast."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as ProgressBar
from rich.table import Table

from vicw_client import VicwClientError
from vicw_shared.errors import SettingsError
from vicw_shared.logs import configure_logs
from vicw_shared.settings import LogSettings
from vicw_standalone.bench import report as reporting
from vicw_standalone.bench.fidelity import ABLATION, AS_SET, BM25, DENSE, Progress, SetReport, Variant, measure
from vicw_standalone.bench.ingest_speed import IngestReport, measure_ingest
from vicw_standalone.bench.pooled import Separation, separate
from vicw_standalone.bench.sets import FidelitySet, find_sets, load_set, pool
from vicw_standalone.bench.speed import SpeedReport, identity_of, measure_speed
from vicw_standalone.bench.targets import Target, open_http, open_local, store_key
from vicw_standalone.cli.console import err, fail, out
from vicw_standalone.cli.settings import read_settings
from vicw_standalone.settings import Settings

StoreOption = Annotated[
    Path | None, typer.Option(help="Where filled stores are kept for the next run. [default: ~/.cache/vicw/bench]")
]
JsonOption = Annotated[Path | None, typer.Option("--json", help="Write everything that was measured to this file.")]
_TABLE_WIDTH = 150
ModelOption = Annotated[str | None, typer.Option(help="Embedding model. [or VICW_EMBEDDING_MODEL]")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(help="Measure: fidelity, speed.", no_args_is_help=True)
    group.command("fidelity")(fidelity)
    group.command("speed")(speed)
    app.add_typer(group, name="bench")


def fidelity(
    data: Annotated[Path, typer.Option(help="Folder of sets (docs/bench.md).", exists=True, file_okay=False)],
    sets: Annotated[str | None, typer.Option(help="Only these, separated by commas.", metavar="A,B")] = None,
    store: StoreOption = None,
    pool_sets: Annotated[
        str | None,
        typer.Option("--pool", help="Put these sets into one store, ask without a domain, count leaks; or: all."),
    ] = None,
    ablate: Annotated[bool, typer.Option("--ablate", help="Ask single channels and all fusions side by side.")] = False,
    categories: Annotated[bool, typer.Option("--categories", help="A row for each category.")] = False,
    json_file: JsonOption = None,
    url: Annotated[str | None, typer.Option(help="Measure a running server. [default: in this process]")] = None,
    model: ModelOption = None,
) -> None:
    """Measure how much of the evidence is found: R@5, R@10, all@k, MRR, milliseconds.

    Each set is remembered in a store of its own, which the next run uses again; a run that was stopped goes on.
    With --url the items stay in that server, all sets in one store: use one that is for nothing else.
    """
    configure_logs(LogSettings(level="warning"))
    settings = read_settings(model=model)
    run = _Run(settings, store or default_store(), url)
    chosen = [load_set(path) for path in find_sets(data, sets.split(",") if sets else None)]
    pools = [load_set(p) for p in find_sets(data, _names(pool_sets))] if pool_sets else []
    # How a server fuses is its own setting: from outside it is asked as it is.
    variants = (AS_SET,) if not ablate else ABLATION if url is None else (DENSE, BM25, AS_SET)
    try:
        with progress_bars() as progress:
            if pools:
                asyncio.run(run.separation(pools, progress))
            else:
                asyncio.run(run.fidelity(chosen, variants, progress))
    except VicwClientError as error:
        fail(str(error))
    run.show(categories=categories)
    if json_file is not None:
        reporting.write_json(json_file, run.as_json())


def speed(
    memories: Annotated[str, typer.Option(help="Sizes of the stores to measure.", metavar="N,N")] = "10000",
    clients: Annotated[str, typer.Option(help="Clients at a time.", metavar="N,N")] = "1,8",
    queries: Annotated[int, typer.Option(help="Questions for each number of clients.", min=1)] = 200,
    ingest: Annotated[
        int, typer.Option(help="Messages to store, against the embedder alone. [default: none]", min=0)
    ] = 0,
    store: StoreOption = None,
    json_file: JsonOption = None,
    model: ModelOption = None,
) -> None:
    """Measure latency, memory and disk of the real server over synthetic chats; with --ingest, throughput too.

    Stores are filled through the write path with random vectors, and kept. --memories 0 leaves this part out.
    """
    configure_logs(LogSettings(level="warning"))
    settings = read_settings(model=model)
    sizes, at_a_time = _numbers(memories), _numbers(clients)
    with progress_bars() as progress:
        work = _measure_speed(settings, store or default_store(), sizes, at_a_time, queries, ingest, progress)
        described, reports, stored = asyncio.run(work)
    if reports:
        print_table(reporting.speed_table(reports))
    for line in reporting.speed_lines(reports, stored):
        out.print(line, markup=False)
    if json_file is not None:
        reporting.write_json(json_file, reporting.speed_json(described, reports, stored))


async def _measure_speed(
    settings: Settings,
    root: Path,
    sizes: list[int],
    clients: list[int],
    queries: int,
    messages: int,
    progress: Progress,
) -> tuple[dict[str, Any], list[SpeedReport], IngestReport | None]:
    identity = await identity_of(settings)
    described = {"model": asdict(identity), "retrieval": settings.retrieval.model_dump(mode="json")}
    reports = []
    for size in filter(None, sizes):
        place = root / f"speed-{size}-{store_key(settings, str(size))}"
        reports.append(await measure_speed(settings, place, identity, size, clients, queries, progress))
    stored = await measure_ingest(settings, messages, progress) if messages else None
    return described, reports, stored


class _Run:
    """One run of ``bench fidelity``."""

    def __init__(self, settings: Settings, store: Path, url: str | None) -> None:
        self._settings = settings
        self._root = store
        self._url = url
        self._described: dict[str, Any] = {}
        self._reports: list[SetReport] = []
        self._pools: list[list[Separation]] = []

    async def fidelity(self, sets: list[FidelitySet], variants: tuple[Variant, ...], progress: Progress) -> None:
        for data in sets:
            store = self._store(data)
            async with self._open(store) as target:
                self._described = await target.describe()
                self._reports.append(await measure(target, data, store, variants, progress))

    async def separation(self, sets: list[FidelitySet], progress: Progress) -> None:
        store = self._store(pool(sets))
        async with self._open(store) as target:
            self._described = await target.describe()
            self._pools.append(await separate(target, sets, store, progress))

    def show(self, *, categories: bool) -> None:
        if self._reports:
            print_table(reporting.fidelity_table(self._reports, categories=categories))
        for line in reporting.against_single_lines(self._reports):
            out.print(line, markup=False)
        for line in reporting.caveat_lines(self._reports):
            err.print(line, style="yellow", markup=False)
        for rows in self._pools:
            print_table(reporting.separation_table(rows, categories=categories))

    def as_json(self) -> dict[str, Any]:
        return reporting.fidelity_json(self._described, self._reports, self._pools)

    def _store(self, data: FidelitySet) -> Path | None:
        return None if self._url else self._root / f"{data.name}-{store_key(self._settings, data.digest)}"

    def _open(self, store: Path | None) -> AbstractAsyncContextManager[Target]:
        if self._url is not None:
            return open_http(self._url)
        if store is None:
            raise SettingsError("a memory in this process needs a store")
        return open_local(self._settings, store)


def default_store() -> Path:
    """Return the user's cache directory for filled stores."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "vicw" / "bench"


def print_table(table: Table) -> None:
    """Print a table whole: where there is no terminal to tell a width, a cut cell would be lost."""
    if out.is_terminal:
        out.print(table)
    else:
        Console(width=_TABLE_WIDTH).print(table)


def _numbers(given: str) -> list[int]:
    try:
        return [int(part) for part in given.replace("_", "").split(",")]
    except ValueError:
        raise typer.BadParameter(f"{given!r} is not a list of numbers such as 1,8") from None


def _names(given: str) -> list[str] | None:
    return None if given == "all" else given.split(",")


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """Show a bar for each step on standard error while the block runs."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with ProgressBar(*columns, console=err, transient=True) as bars:
        tasks: dict[str, Any] = {}

        def show(step: str, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = bars.add_task(step, total=total)
            bars.update(tasks[step], completed=done)

        yield show
