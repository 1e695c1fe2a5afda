"""Runs of ``vicw bench``: measure, print, write JSON."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as ProgressBar
from rich.table import Table

from vicw_bench import report as reporting
from vicw_bench.cases.model import Case, load_cases
from vicw_bench.cases.run import as_json, lines_of, run_cases, summary
from vicw_bench.cases.service import Outcome
from vicw_bench.extraction.labelled import CauseSentence, FactSentence, joined, load_sentences
from vicw_bench.extraction.measure import measure_causes, measure_facts, sentences_per_second
from vicw_bench.fidelity.measure import (
    ABLATION,
    AS_SET,
    BM25,
    DENSE,
    WITHOUT_RERANKING,
    WITHOUT_VECTORS,
    beside_busy_loops,
)
from vicw_bench.fidelity.run import Run
from vicw_bench.filling import requests
from vicw_bench.relevance.run import ask_sets, by_set, held_out, write_fitted
from vicw_bench.sets import BenchDataError, find_sets, load_set
from vicw_bench.speed.ingest import IngestReport, measure_ingest
from vicw_bench.speed.retrieve import SpeedReport, identity_of, measure_speed
from vicw_bench.speed.synthetic import Chat
from vicw_bench.targets import store_key
from vicw_client import VicwClientError
from vicw_runtime.console import err, fail, harmless, out
from vicw_runtime.logs import configure_logs
from vicw_shared.progress import Progress
from vicw_shared.settings import LogSettings
from vicw_shared.wire.ingest import Extract, IngestRequest
from vicw_standalone.settings import StandaloneSettings, read_settings

_TABLE_WIDTH = 150


def fidelity(
    data: Path,
    sets: str | None,
    store: Path | None,
    pool_sets: str | None,
    *,
    extract: Extract,
    ablate: bool,
    budget: int | None,
    consolidated: bool,
    categories: bool,
    busy: int,
    json: Path | None,
    url: str | None,
    retrieve_url: str | None,
    model: str | None,
) -> None:
    """Measure how much of the evidence is found."""
    configure_logs(LogSettings(level="warning"))
    settings = read_settings(model=model)
    run = Run(settings, store or default_store(), extract, url, retrieve_url, consolidated=consolidated, tell=_warn)
    chosen = [load_set(path) for path in find_sets(data, sets.split(",") if sets else None)]
    pools = [load_set(p) for p in find_sets(data, _names(pool_sets))] if pool_sets else []
    # A server's fusion is its own setting and cannot be varied from outside.
    here = WITHOUT_VECTORS if settings.storage.embedder == "none" else ABLATION
    here = (*here, WITHOUT_RERANKING) if settings.rerank.enabled else here
    variants = (AS_SET,) if not ablate else here if url is None else (DENSE, BM25, AS_SET)
    variants = (*variants, beside_busy_loops(busy)) if busy else variants
    try:
        with progress_bars() as progress:
            if pools:
                asyncio.run(run.separation(pools, progress))
            elif budget is not None:
                asyncio.run(run.evidence(chosen, budget, progress))
            else:
                asyncio.run(run.fidelity(chosen, variants, progress))
    except VicwClientError as error:
        fail(str(error))
    _show(run, categories=categories)
    if json is not None:
        reporting.write_json(json, run.as_json())


def relevance(
    data: Path, sets: str | None, store: Path | None, fit: Path | None, *, json: Path | None, model: str | None
) -> None:
    """Measure whether relevance tells if the evidence is stored; with ``fit`` write the constants of all sets there."""
    configure_logs(LogSettings(level="warning"))
    settings = read_settings(model=model)
    chosen = [load_set(path) for path in find_sets(data, sets.split(",") if sets else None)]
    with progress_bars() as progress:
        judged, identity = asyncio.run(ask_sets(settings, store or default_store(), chosen, progress))
    print_table(reporting.relevance_table({"installed": by_set(judged), "of other sets": held_out(judged)}))
    if fit is not None:
        write_fitted(fit, judged, identity)
        out.print(f"{fit}: constants of {identity}; use them with VICW_RETRIEVAL_RELEVANCE_FILE={fit}", markup=False)
    if json is not None:
        reporting.write_json(json, {"answers": [asdict(one) for one in judged]})


def speed(
    sizes: list[int],
    clients: list[int],
    queries: int,
    *,
    store: Path | None,
    json: Path | None,
    model: str | None,
) -> None:
    """Measure latency, memory and disk."""
    configure_logs(LogSettings(level="warning"))
    settings = read_settings(model=model)
    try:
        with progress_bars() as progress:
            work = _measure_speed(settings, store or default_store(), sizes, clients, queries, progress)
            described, reports = asyncio.run(work)
    except VicwClientError as error:
        fail(str(error))
    if reports:
        print_table(reporting.speed_table(reports))
    for line in reporting.speed_lines(reports):
        out.print(line, markup=False)
    if json is not None:
        reporting.write_json(json, reporting.speed_json(described, reports))


def ingest(
    data: Path | None, items: int, extract: Extract, rounds: int, *, json: Path | None, model: str | None
) -> None:
    """Measure the write path on the first ``items`` of a set, on synthetic chats without one."""
    configure_logs(LogSettings(level="warning"))
    settings = read_settings(model=model)
    given = list(requests(load_set(data).items[:items], extract) if data else Chat().requests(items))
    if not given:
        raise BenchDataError(f"{data} holds no items")
    try:
        with progress_bars() as progress:
            described, report = asyncio.run(_measure_ingest(settings, given, extract, rounds, progress))
    except VicwClientError as error:
        fail(str(error))
    print_table(reporting.growth_table(report))
    for line in reporting.ingest_lines(report):
        out.print(line, markup=False)
    if json is not None:
        reporting.write_json(json, reporting.ingest_json(described, report))


def extract(data: Path, *, json: Path | None) -> None:
    """Measure extraction on labelled sentences."""
    report: dict[str, Any] = {}
    texts: list[str] = []
    with progress_bars() as progress:
        if (data / "causes").is_dir():
            causes = load_sentences(data / "causes", CauseSentence)
            report["causes"] = asdict(measure_causes(causes, progress))
            texts += [joined(sentence.text) for sentence in causes]
        if (data / "spo").is_dir():
            facts = load_sentences(data / "spo", FactSentence)
            report["spo"] = asdict(measure_facts(facts, progress))
            texts += [joined(sentence.text) for sentence in facts]
    if not report:
        raise BenchDataError(f"{data} holds none of the folders causes and spo")
    report["sentences_per_second"] = sentences_per_second(texts)
    print_table(reporting.extract_table(report))
    out.print(f"{report['sentences_per_second']:,.0f} sentences a second of one core")
    if json is not None:
        reporting.write_json(json, report)


def cases(folder: Path, url: str | None, retrieve_url: str | None, *, json: Path | None, model: str | None) -> bool:
    """Replay a folder of cases; return whether none is wrong."""
    configure_logs(LogSettings(level="warning"))
    given, settings = load_cases(folder), read_settings(model=model)
    outcomes = asyncio.run(_replay(given, settings, url, retrieve_url))
    out.print(summary(outcomes), markup=False)
    if json is not None:
        reporting.write_json(json, as_json(outcomes))
    return all(one.right is not False for one in outcomes)


async def _replay(
    given: list[Case], settings: StandaloneSettings, url: str | None, retrieve_url: str | None
) -> list[Outcome]:
    outcomes = []
    async for outcome in run_cases(given, settings, url, retrieve_url):
        outcomes.append(outcome)
        for line in lines_of(outcome):
            out.print(harmless(line), markup=False, highlight=False, soft_wrap=True)
    return outcomes


async def _measure_speed(
    settings: StandaloneSettings,
    root: Path,
    sizes: list[int],
    clients: list[int],
    queries: int,
    progress: Progress,
) -> tuple[dict[str, Any], list[SpeedReport]]:
    identity = await identity_of(settings)
    described = {"model": asdict(identity), "retrieval": settings.retrieval.model_dump(mode="json")}
    reports = []
    for size in filter(None, sizes):
        place = root / f"speed-{size}-{store_key(settings, str(size))}"
        reports.append(await measure_speed(settings, place, identity, size, clients, queries, progress))
    return described, reports


async def _measure_ingest(
    settings: StandaloneSettings, given: Sequence[IngestRequest], extract: Extract, rounds: int, progress: Progress
) -> tuple[dict[str, Any], IngestReport]:
    described = {"model": asdict(await identity_of(settings)), "extract": extract}
    return described, await measure_ingest(settings, given, extract, rounds, progress)


def _show(run: Run, *, categories: bool) -> None:
    if run.reports:
        print_table(reporting.fidelity_table(run.reports, categories=categories))
    for line in reporting.against_single_lines(run.reports):
        out.print(line, markup=False)
    for line in reporting.caveat_lines(run.reports):
        _warn(line)
    for rows in run.pools:
        print_table(reporting.separation_table(rows, categories=categories))
    if run.evidences:
        print_table(reporting.evidence_table(run.evidences))
    for name, found in run.consolidated.items():
        out.print(
            f"{name}: {found.events} Events in {found.macros} Macro-Events, {found.refused} batches refused; "
            f"{found.share:.3f} of the vectors of {found.passages} passages "
            f"and {found.told} of {found.statements} statement vectors are left",
            markup=False,
        )


def default_store() -> Path:
    """Return the user's cache directory for filled stores."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "vicw" / "bench"


def _warn(line: str) -> None:
    err.print(line, style="yellow", markup=False)


def print_table(table: Table) -> None:
    """Print a table in full width: without a terminal, cut cells would be lost."""
    if out.is_terminal:
        out.print(table)
    else:
        Console(width=_TABLE_WIDTH).print(table)


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
