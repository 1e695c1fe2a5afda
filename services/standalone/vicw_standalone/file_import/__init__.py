"""Import of files: ``vicw ingest``, and the same from Python (``service.import_paths``)."""
