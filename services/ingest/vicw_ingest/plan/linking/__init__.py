"""Entity linking: resolve extractions to nodes and edges, without the relations that the registry forbids.

Runs inside the transaction: only the context's lock makes the lookup of names reliable.
"""
