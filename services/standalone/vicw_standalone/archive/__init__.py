"""Exports and backups of the stores that the settings name."""
