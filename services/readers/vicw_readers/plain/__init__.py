"""Readers of what has no form of its own: text, and items as data."""
