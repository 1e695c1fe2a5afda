"""Summaries of a batch: ``extractive`` and ``abstractive`` write one, ``check`` and ``contradiction`` verify it."""
