"""Export of a store into a folder, and import from one (docs/export.md; docs/decisions/0027)."""
