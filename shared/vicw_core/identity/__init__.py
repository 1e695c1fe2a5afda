"""Entity resolution: finds entities that may be the same, merges and splits them (decision 0014)."""
