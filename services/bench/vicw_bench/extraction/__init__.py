"""How well extraction without an LLM reads labelled sentences."""
