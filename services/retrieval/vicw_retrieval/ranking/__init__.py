"""Score fusion: pure functions."""
