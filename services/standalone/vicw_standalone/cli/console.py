"""Settings and Ctrl-C of the commands, and the results of an import."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from vicw_runtime.operations.console import INTERRUPTED, err, fail, harmless, out, problem, progress_bar
from vicw_shared.settings import EmbeddingSettings, StorageSettings
from vicw_shared.settings.variables import named_by_variable
from vicw_standalone.file_import import Summary
from vicw_standalone.settings import CHOICES, StandaloneSettings
from vicw_standalone.sources.records import Refused

__all__ = [
    "INTERRUPTED",
    "err",
    "fail",
    "harmless",
    "interruptible",
    "out",
    "print_refused",
    "print_summary",
    "problem",
    "progress_bar",
    "read_settings",
]


@contextmanager
def interruptible(first: Callable[[], None], second: Callable[[], None]) -> Iterator[threading.Event]:
    """Yield an event that the first Ctrl-C sets before it calls ``first``; the next one calls ``second`` and exits.

    No exception is raised, so that work in progress can finish and be reported.
    """
    stop = threading.Event()

    def pressed(*_: object) -> None:
        if stop.is_set():
            second()
            os._exit(INTERRUPTED)  # any other exit waits for threads that wait for the server
        stop.set()
        first()

    before = signal.signal(signal.SIGINT, pressed)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def read_settings(
    *, host: str | None = None, port: int | None = None, data_dir: Path | None = None, model: str | None = None
) -> StandaloneSettings:
    """Return the settings. Raises SettingsError that names the variable, its value and the fault."""
    with named_by_variable():
        settings = StandaloneSettings.read()
        storage = StorageSettings() if data_dir is None else StorageSettings(data_dir=data_dir.expanduser().absolute())
    choices = storage.data_dir / CHOICES
    with named_by_variable(str(choices)):
        settings = replace(settings, storage=storage, embedding=EmbeddingSettings(_env_file=choices))
    server = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    if server:
        settings = replace(settings, server=settings.server.model_copy(update=server))
    if model is not None:
        settings = replace(settings, embedding=settings.embedding.model_copy(update={"model": model}))
    return settings


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
