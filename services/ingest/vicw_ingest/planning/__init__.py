"""From a request's items to nodes and edges: pure, no engine."""
