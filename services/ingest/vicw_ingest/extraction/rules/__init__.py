"""Extraction without an LLM: rules and small models over analysed sentences."""
