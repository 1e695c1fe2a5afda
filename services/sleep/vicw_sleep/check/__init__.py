"""``vicw check``: whether a store keeps its invariants. Read-only."""
