"""Counts in messages, with singular or plural nouns."""

from __future__ import annotations


def counted(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun: "1 item", "2 items". ``many`` is an irregular plural."""
    return f"{count} {one if count == 1 else many or one + 's'}"
