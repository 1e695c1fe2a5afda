"""Format of an export on disk (docs/export.md): its files and their content.

Uses no store and no engine. ``vicw_sleep.archive`` exports a store to this format and imports it.
"""
