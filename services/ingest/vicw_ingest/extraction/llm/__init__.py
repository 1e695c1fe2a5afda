"""Extraction by a language model. Its answer is a proposal: all of it is validated before storage."""
