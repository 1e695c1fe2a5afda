"""The graph looked at directly: where a question begins, how it spreads, what it answers (seed 004)."""
