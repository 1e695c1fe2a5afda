"""Measurements as tables for a person and as JSON for a program."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from statistics import median
from typing import Any

from rich.table import Table

from vicw_bench.fidelity.evidence import EvidenceReport
from vicw_bench.fidelity.measure import NOTICEABLE, Measured, SetReport
from vicw_bench.fidelity.pooled import Separation
from vicw_bench.metrics import Scores
from vicw_bench.relevance.run import FIGURES, RelevanceScores, mean
from vicw_bench.speed.ingest import IngestReport
from vicw_bench.speed.retrieve import SpeedReport

_SCORES = ("R@5", "R@10", "±", "all@5", "all@10", "MRR", "p50 ms", "p95 ms")
_GAINS = ("worth R@5", "worth R@10")


def fidelity_table(reports: Sequence[SetReport], *, categories: bool = False) -> Table:
    """Return one row a set and way of asking; with ``categories`` one more for each category.

    Where a set is asked in several ways, each row tells what its mechanism is worth, too.
    """
    several = any(len(report.ways) > 1 for report in reports)
    table = Table("set", "asked", "items", "queries", *_SCORES, *(_GAINS if several else ()), "tokens/s", "chars/s")
    for column in table.columns[2:]:
        column.justify = "right"
    for report in reports:
        for number, way in enumerate(report.ways):
            rates = _rates(report).values() if number == 0 else (None, None)
            table.add_row(
                report.name if number == 0 else "",
                way.variant,
                str(report.items) if number == 0 else "",
                str(way.overall.questions),
                *_cells(way.overall),
                *(_worth(report, way) if several else ()),
                *(f"{rate:,.0f}" if rate is not None else "" for rate in rates),
            )
            if categories:
                _add_categories(table, way)
        if len(report.ways) > 1:
            table.add_section()
    return table


def relevance_table(rows: Mapping[str, Mapping[str, RelevanceScores]]) -> Table:
    """Return one row a set for each kind of constants, and their means."""
    columns = ("AUROC foreign", "AUROC left out", "likely", "nothing", "nothing, foreign", "recall lost")
    table = Table("constants", "set", *columns)
    for column in table.columns[2:]:
        column.justify = "right"
    for label, scores in rows.items():
        means = {"mean": mean(scores.values())} if len(scores) > 1 else {}
        for number, (name, of_set) in enumerate({**scores, **means}.items()):
            values = [getattr(of_set, figure) for figure in FIGURES]
            cells = ["–" if math.isnan(value) else f"{value:.3f}" for value in values[:-1]]
            table.add_row(label if number == 0 else "", name, *cells, f"{values[-1]:.4f}")
        table.add_section()
    return table


def extract_table(report: Mapping[str, Any]) -> Table:
    """Return one row a measure of each set, in shares of its sentences."""
    table = Table("set", "sentences", "measure", "share")
    for name in ("causes", "spo"):
        scores = dict(report.get(name, {}))
        size = scores.pop("sentences", 0)
        for number, (measure, share) in enumerate(scores.items()):
            table.add_row(*((name, f"{size:,}") if number == 0 else ("", "")), measure, f"{share:.3f}")
        table.add_section()
    return table


def _rates(report: SetReport) -> dict[str, float | None]:
    filled = report.filled if report.filled_now else None
    return {
        "tokens_per_second": filled.tokens_per_second if filled else None,
        "chars_per_second": filled.chars_per_second if filled else None,
    }


def _worth(report: SetReport, way: Measured) -> list[str]:
    gains = report.gain(way)
    return [f"{gain:+.3f}" for gain in gains] if gains is not None else [""] * len(_GAINS)


def _add_categories(table: Table, way: Measured) -> None:
    for name, scores in way.categories.items():
        table.add_row("", f"  {name or '(none)'}", "", str(scores.questions), *_cells(scores), style="dim")


def _cells(scores: Scores) -> list[str]:
    deviation = scores.deviation_at_10
    shares = (scores.all_at_5, scores.all_at_10, scores.mrr)
    return [
        f"{scores.recall_at_5:.3f}",
        f"{scores.recall_at_10:.3f}",
        f"{deviation:.3f}" if math.isfinite(deviation) else "",
        *(f"{share:.3f}" for share in shares),
        f"{scores.p50_ms:.1f}",
        f"{scores.p95_ms:.1f}",
    ]


def against_single_lines(reports: Sequence[SetReport]) -> list[str]:
    """Return, for each set with an ablation and each fusion, what it gains over the better single channel in R@10.

    Last, for each set, the same of the questions that the memory told no task of.
    """
    gains = [(f"{way} vs", report.name, gain) for report in reports for way, gain in report.against_single.items()]
    for report in reports:
        if (unsure := report.unsure_against_single) is not None:
            gains.append((f"as set, {unsure[0]} questions of no task, vs", report.name, unsure[1]))
    return [
        f"{way} better single channel, {name}: R@10 {gain:+.3f}" + ("  ← worse" if gain < -NOTICEABLE else "")
        for way, name, gain in gains
    ]


def caveat_lines(reports: Sequence[SetReport]) -> list[str]:
    """Return what makes figures doubtful: items that were left out, and answers with a part of the memory missing."""
    blank = [f"{r.name}: {r.blank} items without text were left out" for r in reports if r.blank]
    degraded = [
        f"{report.name}, {way.variant}: {way.overall.degraded} answers were degraded (a channel failed or was too slow)"
        for report in reports
        for way in report.ways
        if way.overall.degraded
    ]
    return blank + degraded


def separation_table(rows: Sequence[Separation], *, categories: bool = False) -> Table:
    """Return one row a set, the last for all; with ``categories`` one more for each category."""
    counts = ("queries", "foreign slots", "of", "share", "narrowed", "wrongly", "ambiguous")
    table = Table("pooled", *counts, "R@10 no domain", "R@10 domain given", "lost")
    for column in table.columns[1:]:
        column.justify = "right"
    for row in rows:
        table.add_row(row.name, *_separation_cells(row))
        for part in row.categories.values() if categories else ():
            table.add_row(f"  {part.name or '(none)'}", *_separation_cells(part), style="dim")
    return table


def _separation_cells(row: Separation) -> list[str]:
    counts = (row.questions, row.foreign, row.slots)
    recalls = (f"{row.recall_open:.3f}", f"{row.recall_given:.3f}", f"{row.lost:+.3f}")
    return [
        *map(str, counts),
        f"{row.foreign_share:.2%}",
        str(row.narrowed),
        str(row.wrongly),
        str(row.ambiguous),
        *recalls,
    ]


def evidence_table(reports: Sequence[EvidenceReport]) -> Table:
    """Return one row a set and way of writing a text."""
    table = Table("set", "queries", "text", "characters", "evidence in it", "whole items")
    for column in (table.columns[1], *table.columns[3:]):
        column.justify = "right"
    for report in reports:
        for number, way in enumerate(report.ways):
            first = (report.name, str(report.questions)) if number == 0 else ("", "")
            table.add_row(*first, way.way, f"{way.chars:,.0f}", f"{way.share:.3f}", f"{way.whole:.3f}")
        table.add_section()
    return table


def fidelity_json(
    described: dict[str, Any],
    reports: Sequence[SetReport],
    pools: Sequence[Sequence[Separation]],
    evidence: Sequence[EvidenceReport] = (),
) -> dict[str, Any]:
    """Return everything that was measured, and what it depends on."""
    return {
        "measured": described,
        "sets": [
            asdict(report)
            | _rates(report)
            | {"against_single": report.against_single, "worth": {w.variant: report.gain(w) for w in report.ways}}
            for report in reports
        ],
        "evidence": [asdict(report) for report in evidence],
        "pools": [[asdict(r) | {"foreign_share": r.foreign_share, "lost": r.lost} for r in rows] for rows in pools],
    }


def speed_table(reports: Sequence[SpeedReport]) -> Table:
    """Return one row a store and number of clients: round trips in ms, then the medians of took_ms by stage."""
    stages = list(dict.fromkeys(stage for r in reports for latency in r.latencies for stage in latency.stages))
    table = Table("memories", "clients", "queries", "p50 ms", "p95 ms", "p99 ms", "queries/s", *stages)
    for column in table.columns:
        column.justify = "right"
    for report in reports:
        for number, row in enumerate(report.latencies):
            times = (row.p50_ms, row.p95_ms, row.p99_ms, row.queries_per_second)
            table.add_row(
                f"{report.memories:,}" if number == 0 else "",
                str(row.clients),
                str(row.queries),
                *(f"{value:.1f}" for value in times),
                *(f"{row.stages.get(stage, 0.0):.1f}" for stage in stages),
            )
    return table


def speed_lines(reports: Sequence[SpeedReport]) -> list[str]:
    """Return what each store takes of disk and RAM."""
    lines = []
    for report in reports:
        sizes = ", ".join(
            f"{name} {size.total:.0f} MiB resident, {size.own:.0f} of its own" for name, size in report.resident.items()
        )
        lines.append(f"{report.memories:,} memories: {report.disk_mb:.0f} MiB on disk; {sizes}")
    return lines


def ingest_lines(report: IngestReport) -> list[str]:
    """Return what the write path leaves of the embedder, and the largest hub."""
    through, alone = (f"{median(rates):.0f}" for rates in (report.through, report.alone))
    growth = report.growth
    return [
        f"ingest of {report.items:,} items, {report.texts:,} texts with vectors: {through} texts/s through /ingest, "
        f"{alone} by the embedder alone, ratio {report.ratio:.2f}",
        f"largest degree: {growth.largest_degree:,}, of {growth.busiest!r}",
    ]


def growth_table(report: IngestReport) -> Table:
    """Return how many nodes of each kind and edges of each type 1,000 items bring."""
    table = Table("per 1,000 items", "nodes and edges")
    table.columns[1].justify = "right"
    for counts in (report.growth.nodes, report.growth.edges):
        table.add_section()
        for name, count in counts.most_common():
            table.add_row(name, f"{1000 * count / report.items:,.0f}")
        table.add_row("all", f"{1000 * counts.total() / report.items:,.0f}")
    return table


def speed_json(described: dict[str, Any], reports: Sequence[SpeedReport]) -> dict[str, Any]:
    """Return everything that was measured, and what it depends on."""
    return {"measured": described, "stores": [asdict(report) for report in reports]}


def ingest_json(described: dict[str, Any], report: IngestReport) -> dict[str, Any]:
    """Return everything that was measured, and what it depends on."""
    growth = {each.name: getattr(report.growth, each.name) for each in fields(report.growth)}  # asdict breaks a Counter
    measured = {each.name: getattr(report, each.name) for each in fields(report)}
    return {"measured": described, "ingest": measured | {"growth": growth, "ratio": report.ratio}}


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write ``content`` as JSON; a number that is none becomes null."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(_finite(content), indent=1, ensure_ascii=False, default=str) + "\n", "utf-8")


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
