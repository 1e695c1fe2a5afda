"""First wave: the channels of a request, and the cross-scoring of their hits."""
