"""Entity resolution: find entities that may be the same, merge and split them (decision 0014)."""
