"""The prompts, one per file."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def prompt(name: str) -> str:
    """Return a prompt; ``{…}`` are placeholders for ``str.format``."""
    return (files(__name__) / f"{name}.txt").read_text("utf-8").strip()
