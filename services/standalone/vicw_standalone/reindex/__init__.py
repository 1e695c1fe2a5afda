"""``vicw reindex``: change of the embedding model on a data directory, a running server or a platform."""
