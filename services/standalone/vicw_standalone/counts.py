"""Counts in messages, with their nouns in the right number."""

from __future__ import annotations


def counted(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun: "1 item", "2 items". ``many`` is the plural where it is not ``one`` and an s."""
    return f"{count} {one if count == 1 else many or one + 's'}"
