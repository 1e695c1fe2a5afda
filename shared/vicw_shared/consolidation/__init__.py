"""Consolidation: Events of one flow become one Macro-Event, and come back from it as they were (decision 0025).

Both are steps inside one transaction of the graph. The sleep cycle consolidates; a change of an item restores it first.
"""
