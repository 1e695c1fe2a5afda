"""Consolidation replaces Events of one flow by one Macro-Event; restore brings them back unchanged (decision 0025).

Both run inside one graph transaction. The sleep cycle consolidates; a change of an item restores it first.
"""
