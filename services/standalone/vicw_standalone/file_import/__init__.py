"""Import of files: ``vicw ingest``, and the same from Python."""

from vicw_standalone.file_import.service import Summary, import_paths

__all__ = ["Summary", "import_paths"]
