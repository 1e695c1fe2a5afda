"""Changes of single fields, which the ingest service makes."""
