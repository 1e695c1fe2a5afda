"""Output of commands: answers to standard output, everything else and progress to standard error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

import typer
from rich.console import Console

if TYPE_CHECKING:  # every command imports this module
    from vicw_shared.progress import Progress

out = Console(soft_wrap=True, highlight=False)
err = Console(stderr=True, soft_wrap=True, highlight=False)
INTERRUPTED = 130
"""Exit code of a command ended by Ctrl-C."""
_CONTROLS = {code: "\ufffd" for code in (*range(32), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"}


def harmless(text: str) -> str:
    """Return stored text without control characters: a terminal would run its escape sequences."""
    return text.translate(_CONTROLS)


def print_line(text: str) -> None:
    """Print stored text as one line."""
    out.print(" ".join(harmless(text).split("\n")), markup=False, highlight=False, soft_wrap=True)


def problem(text: str) -> None:
    """Print an error."""
    err.print("[bold red]error:[/] ", end="")
    err.print(text, markup=False)


def fail(text: str, code: int = 1) -> NoReturn:
    """Print an error and exit."""
    problem(text)
    raise typer.Exit(code)


@contextmanager
def progress_bar(description: str) -> Iterator[Progress]:
    """Show progress and the remaining time on a terminal; yield the callback that reports progress."""
    # Slow to import, and most commands show no progress.
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    bar = Bar(
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
