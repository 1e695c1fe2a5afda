"""Consolidation replaces Events of one flow by one Macro-Event; restore brings them back unchanged (decision 0025).

Each runs inside one graph transaction. The sleep cycle consolidates; a request that changes an item restores it first.
"""
