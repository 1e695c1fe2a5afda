"""Entity linking: resolve extractions to nodes and edges and drop what the registry forbids.

Runs inside the transaction: only the context's lock makes the lookup of names reliable.
"""
