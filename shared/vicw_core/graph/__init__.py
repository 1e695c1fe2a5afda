"""Building blocks of graph writes: edges, chains, canonical entities."""
