"""Output of the command: answers to standard output, everything else to standard error."""

from __future__ import annotations

from typing import NoReturn

import typer
from rich.console import Console

out = Console(soft_wrap=True, highlight=False)
err = Console(stderr=True, soft_wrap=True, highlight=False)


_CONTROLS = {code: "\ufffd" for code in (*range(32), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"}


def harmless(text: str) -> str:
    """Return stored text without control characters: a terminal would run its escape sequences."""
    return text.translate(_CONTROLS)


def problem(text: str) -> None:
    """Print an error."""
    err.print("[bold red]error:[/] ", end="")
    err.print(text, markup=False)


def fail(text: str, code: int = 1) -> NoReturn:
    """Print an error and exit."""
    problem(text)
    raise typer.Exit(code)
