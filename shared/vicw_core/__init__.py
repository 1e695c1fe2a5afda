"""The domain that several services run inside a transaction: graph, consolidation, identity, archive, index."""
