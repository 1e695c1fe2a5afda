"""Progress bar of a long command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import rich.progress
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

from vicw_shared.progress import Progress
from vicw_standalone.cli.console import err


@contextmanager
def progress_bar(description: str) -> Iterator[Progress]:
    """Show progress and the remaining time on a terminal; yield the callback that reports progress."""
    bar = rich.progress.Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=err,
        transient=True,
        disable=not err.is_terminal,  # it would print an empty line at the end
    )
    with bar:
        task = bar.add_task(description, total=None)
        phase = ""

        def report(now: str, done: int, total: int) -> None:
            nonlocal phase
            if now != phase:
                phase = now
                bar.reset(task, description=phase, total=total or None)
            bar.update(task, completed=done, total=total or None)

        yield report
