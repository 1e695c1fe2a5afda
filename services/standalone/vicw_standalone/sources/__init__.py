"""Readers: files in, items out, no network. One format a file; `read_paths` finds the right one."""

from vicw_standalone.sources.files import read_paths
from vicw_standalone.sources.records import Record, Refused, Skipped, SourceItem

__all__ = ["Record", "Refused", "Skipped", "SourceItem", "read_paths"]
