"""Consolidation replaces old Events of a flow by Macro-Events without losing a fact.

``source_reader`` reads the Events, ``batches`` decides which old ones belong together, ``extractive_summary`` and
``abstractive_summary`` shorten them, ``summary_check`` verifies the summary, ``service`` commits it. Only the first and
the last do I/O, and the language model of ``abstractive_summary``.
"""
