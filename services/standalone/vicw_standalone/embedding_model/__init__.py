"""The embedding model of a data directory: which one is chosen, and the processes that run it."""
