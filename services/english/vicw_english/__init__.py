"""Extraction from English without an LLM: a plug-in, found as an entry point of ``vicw.extractors``."""
