"""Readers of documents: each parses a file into sections, and the sections become items."""
