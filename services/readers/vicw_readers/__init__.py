"""Readers of files: what people already have becomes items. One class for each format, behind `vicw_readers.port`."""
