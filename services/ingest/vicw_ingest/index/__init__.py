"""Index stage: leases on outbox entries, points, back-pressure, and the indexer that writes the vectors."""
