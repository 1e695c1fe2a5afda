"""Direct graph queries: start nodes, spreading, answers (seed 004)."""
