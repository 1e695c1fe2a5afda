"""Relevance: how likely the results of a question are evidence for it, calibrated."""
