"""Readers of files: one module per format, without network. `read_paths` selects the reader."""

from vicw_standalone.sources.files import read_paths
from vicw_standalone.sources.records import Record, Refused, Skipped, SourceItem

__all__ = ["Record", "Refused", "Skipped", "SourceItem", "read_paths"]
