"""From readings to nodes and edges: which node each name means, and what may be stored of what was read.

Runs inside the transaction: only under the context's lock is it certain who is known by a name.
"""
