"""``vicw reindex``: where the stores are, and which model is meant; the change itself is the ingest service's."""
