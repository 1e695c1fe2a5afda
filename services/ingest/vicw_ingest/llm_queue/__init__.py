"""Deferred extraction: items that a language model extracts in the background, after their request."""
