"""``vicw stats``: how much a running server has stored."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from vicw_runtime.console import harmless, out
from vicw_shared.wire.stats import StoreStats
from vicw_standalone.terminal.server_client import UrlOption, server


def register(parent: typer.Typer) -> None:
    """Add the subcommand."""
    parent.command("stats")(show_stats)


def show_stats(
    days: Annotated[int, typer.Option(help="Days that are told one by one.", min=1, max=366)] = 7,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    url: UrlOption = None,
) -> None:
    """Show how much is stored. Needs a running server."""
    with server(url) as client:
        stats = client.stats(days=days)
    if as_json:
        print(stats.model_dump_json(indent=2))
    else:
        out.print(_table(stats), soft_wrap=False)


def _table(stats: StoreStats) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(overflow="fold")
    table.add_column(justify="right", no_wrap=True)
    counts = {
        "items": stats.items,
        **{f"  {label}": count for label, count in sorted(stats.labels.items())},
        **{f"  of domain {domain}": count for domain, count in sorted(stats.domains.items())},
        "retired items": stats.retired,
        "contexts": stats.contexts,
        "passages": stats.passages,
        "  characters": stats.chars,
        "  vectors": stats.vectors,
        "  not indexed yet": stats.waiting,
    }
    for name, queue in (("index", stats.queue), ("language model", stats.extraction_queue)):
        if queue is not None:
            counts |= {
                f"queue of the {name}": queue.waiting,
                f"  {name}: failing": queue.failing,
                f"  {name}: given up": queue.dead,
            }
    for name, running in (("erasures", stats.erasures), ("imports", stats.imports)):
        if running is not None:
            counts[f"{name} that go on"] = running
    if stats.disk_bytes is not None:
        counts["bytes on the disk"] = stats.disk_bytes
    counts |= {f"stored on {day.day}": day.items for day in stats.days}
    for name, count in counts.items():
        table.add_row(escape(harmless(name)), f"{count:,}")
    return table
