"""Response to a write: the outcome of each item and the nodes created for it."""
