"""Clients of embedding, language and re-ranking models behind HTTP."""
