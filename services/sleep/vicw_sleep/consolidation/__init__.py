"""Consolidation: old Events of a flow become Macro-Events, and nothing that they tell is lost (seed 003 §5.2).

``gathering`` finds what is old enough, ``batching`` which of it goes together, ``summarising`` says it in fewer words,
``checking`` whether it still says it, ``consolidating`` does it. Pure but for the first and the last.
"""
