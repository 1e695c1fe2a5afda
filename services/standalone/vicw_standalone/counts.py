"""Counts in messages, with singular or plural nouns."""

from vicw_shared.text import counted

__all__ = ["counted"]
