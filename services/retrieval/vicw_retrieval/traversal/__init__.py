"""Direct graph queries: start nodes, spreading, answers."""
