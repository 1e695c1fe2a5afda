"""Items on a terminal, a line each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC

from rich.markup import escape

from vicw_runtime.console import harmless, out
from vicw_shared.clock import format_minute
from vicw_shared.wire.items import ListedItem

_EXCERPT, _LEAST = 300, 30


def print_items(items: Sequence[ListedItem], *, with_context: bool) -> None:
    """Print a line an item; on a terminal its text ends at the edge, and ids are never cut."""
    rows = [
        [format_minute(item.told_at, UTC), item.id or item.uid, *([item.context] if with_context else [])]
        for item in items
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    room = max(_LEAST, out.width - sum(widths) - 2 * len(widths)) if out.is_terminal else _EXCERPT
    for item, cells in zip(items, rows, strict=True):
        said = f"{item.speaker}: " if item.speaker else f"{item.name}: " if item.name else ""
        text = " ".join(f"{said}{item.text or ''}"[:_EXCERPT].split())
        if len(text) > room:
            text = f"{text[: room - 1]}…"
        told, *names = (escape(harmless(cell.ljust(width))) for cell, width in zip(cells, widths, strict=True))
        line = f"[dim]{told}[/]  {'  '.join(names)}  {escape(harmless(text))}"
        out.print(f"[strike]{line}[/]" if item.retired_at else line)
