"""Pictures of a part of the graph."""
