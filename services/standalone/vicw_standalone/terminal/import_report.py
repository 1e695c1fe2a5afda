"""What is printed of an import: for people, and as JSON for programs."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from rich.markup import escape

from vicw_ingest.file_import.report import report_of
from vicw_ingest.file_import.summary import Summary
from vicw_readers.records import Refused, Report, Skipped, SourceItem
from vicw_readers.registry import readers
from vicw_runtime.console import err, out
from vicw_shared.text import counted

_SHOWN = 3
"""Files of a kind that are named without --verbose."""
_TEXT_CHARS = 72


def print_summary(summary: Summary, *, verbose: bool = False, dry: bool = False) -> None:
    """Print what was stored, what was read by format, and what was not by kind, with the way out."""
    from rich.table import Table

    table = Table(show_header=False, box=None)
    for name, count in (
        ("created", summary.created),
        ("updated", summary.updated),
        ("unchanged", summary.unchanged),
        ("replaced by what is shown now", summary.replaced),
        ("duplicates, linked", summary.linked),
        ("stored by an earlier run", summary.skipped),
        ("passed over", len(summary.passed_over)),
        ("refused", len(summary.refused)),
    ):
        if not dry or name in {"passed over", "refused"}:
            table.add_row(name, str(count))
    out.print(table)
    print_read(summary)
    for context, count in summary.contexts.most_common():
        out.print(f"  {count} in context [bold]{escape(context)}[/]")
    if summary.private:
        out.print(f"  {counted(summary.private, 'item')} not public: see --sensitivity and --owner")
    for kind, count in summary.masked.most_common():
        out.print(f"  secrets masked in {count} {'item' if count == 1 else 'items'}: {kind}")
    if summary.jobs:
        requests = "1 request is" if len(summary.jobs) == 1 else f"{len(summary.jobs)} requests are"
        out.print(f"  everything is stored; {requests} still being indexed")
    print_unread(summary, verbose=verbose)


def print_read(summary: Summary) -> None:
    """Print what was read, by format."""
    for name, items in summary.items.most_common():
        out.print(f"  {counted(items, 'item')} of {counted(summary.files[name], 'file')}: {escape(_title(name))}")


def print_unread(summary: Summary, *, verbose: bool = False) -> None:
    """Print what was passed over, noted and refused, by kind; ``verbose`` lists all."""
    _print_unread(summary.passed_over, "passed over", verbose)
    _print_unread(summary.notes, "noted", verbose)
    _print_unread(summary.refused, "refused", verbose)


def _print_unread(records: Iterable[Report], word: str, verbose: bool) -> None:
    """Print records by kind; without ``verbose`` only a few of each, and of what is normal only their number."""
    kinds: dict[str, list[Report]] = defaultdict(list)
    for record in records:
        kinds[record.kind or "other"].append(record)
    for kind, unread in sorted(kinds.items()):
        err.print(f"[yellow]{word}[/] {escape(kind)}: {len(unread)}", highlight=False)
        shown = unread if verbose else unread[: 0 if word == "passed over" else _SHOWN]
        for record in shown:
            line = None if isinstance(record, Skipped) else record.line
            fix = record.fix if isinstance(record, Refused) else ""
            place = f"{record.path}:{line}" if line else record.path
            err.print(f"  {escape(place)}: {escape(record.reason)}{f'. {escape(fix)}' if fix else ''}", highlight=False)
        if len(shown) < len(unread) and shown:
            err.print(f"  …and {len(unread) - len(shown)} more: --verbose lists all")


def _title(name: str) -> str:
    return next((reader.title for reader in readers() if reader.name == name), name or "items")


def print_item(record: SourceItem) -> None:
    """Print a line about an item that would be stored."""
    item = record.item
    text = " ".join(item.text.split())
    text = f"{text[:_TEXT_CHARS]}…" if len(text) > _TEXT_CHARS else text
    parts = (record.context, item.id, f"{item.timestamp:%Y-%m-%d %H:%M}" if item.timestamp else None, item.speaker)
    out.print(escape(f"{' · '.join(filter(None, parts))}: {text}"), highlight=False, soft_wrap=True)


def item_as_json(record: SourceItem) -> str:
    """Return a line of JSON about an item that would be stored."""
    item = record.item.model_dump(mode="json", exclude_defaults=True)
    known = {"context": record.context, "domain": record.domain, "reader": record.reader}
    return json.dumps({**known, "path": record.path, "line": record.line, "item": item}, ensure_ascii=False)


def summary_as_json(summary: Summary, *, dry: bool = False, **more: Any) -> str:
    """Return the summary as a line of JSON, with ``more`` fields."""
    report = report_of(summary, _title, dry_run=dry).model_dump(mode="json")
    return json.dumps({**report, **more}, ensure_ascii=False)
