"""Extraction from code, stack traces and commit messages, independent of stores and of natural language."""
