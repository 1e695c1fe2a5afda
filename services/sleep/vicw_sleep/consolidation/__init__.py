"""Consolidation replaces old Events of a flow by Macro-Events without losing a fact.

``source_reader`` reads the Events, ``batches`` decides which old ones belong together, ``summary`` shortens them and
verifies the result, ``service`` commits it. Only the first and the last do I/O, and the language model of
``summary.abstractive``.
"""
