"""Why: causal chains from what a question is about to its roots, or to what it led to (seed 003 §3.2; seed 002 §4)."""
