"""Causal chains from the subject of a question to root causes or to consequences (seed 003 §3.2; seed 002 §4)."""
