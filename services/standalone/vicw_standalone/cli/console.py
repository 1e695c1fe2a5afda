"""What the command prints: answers to standard output, everything else to standard error."""

from __future__ import annotations

from typing import NoReturn

import typer
from rich.console import Console

out = Console(soft_wrap=True, highlight=False)
err = Console(stderr=True, soft_wrap=True, highlight=False)


def problem(text: str) -> None:
    """Print an error."""
    err.print("[bold red]error:[/] ", end="")
    err.print(text, markup=False)


def fail(text: str, code: int = 1) -> NoReturn:
    """Print an error and exit."""
    problem(text)
    raise typer.Exit(code)
