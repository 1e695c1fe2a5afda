"""What the vector index holds: points, sparse vectors, the wrapper of a passage."""
