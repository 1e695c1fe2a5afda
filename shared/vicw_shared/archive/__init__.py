"""An export on disk (seed 004, "On-Disk Layout"; docs/export.md): what its files are called and what is in them.

Pure: no store and no engine. ``vicw_sleep.archive`` fills it from one and brings it into another.
"""
