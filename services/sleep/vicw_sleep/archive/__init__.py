"""All that a store knows, out into a folder and in again (docs/export.md; docs/decisions/0027)."""
