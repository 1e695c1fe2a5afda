"""Change of the embedding model, and repair of a lost index (docs/embedding.md; docs/decisions/0009, 0012)."""
