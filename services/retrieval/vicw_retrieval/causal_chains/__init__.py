"""Causal chains from the subject of a question to root causes or to consequences."""
