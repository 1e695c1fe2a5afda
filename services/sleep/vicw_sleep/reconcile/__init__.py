"""Repair of what the vector store and the graph disagree on (``discrepancies`` finds it)."""
