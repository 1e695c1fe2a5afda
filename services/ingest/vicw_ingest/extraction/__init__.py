"""Extraction from texts: by the caller, by rules, or by a language model."""
