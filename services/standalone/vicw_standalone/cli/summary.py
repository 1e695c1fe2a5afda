"""Printed result of an import."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from vicw_standalone.cli.console import err, out
from vicw_standalone.file_import import Summary
from vicw_standalone.sources.records import Refused

_SHOWN_REFUSALS = 20


def print_summary(summary: Summary) -> None:
    """Print the numbers of stored items, and the refused ones."""
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


def print_refused(refusals: Sequence[Refused], word: str = "refused") -> None:
    """Print the first refusals, each with its reason."""
    for refused in refusals[:_SHOWN_REFUSALS]:
        location = f"{refused.path}:{refused.line}" if refused.line else str(refused.path)
        err.print(f"[yellow]{word}[/] {escape(location)}: {escape(refused.reason)}")
    if len(refusals) > _SHOWN_REFUSALS:
        err.print(f"[yellow]…and {len(refusals) - _SHOWN_REFUSALS} more[/]")
