"""The prompts, one a file."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def prompt(name: str) -> str:
    """Return a prompt; ``{…}`` in it is for ``str.format``."""
    return (files(__name__) / f"{name}.txt").read_text("utf-8").strip()
