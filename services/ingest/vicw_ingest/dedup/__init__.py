"""Deduplication: text that VICW returned earlier is linked to its stored source (docs/decisions/0023)."""
