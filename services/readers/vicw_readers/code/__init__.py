"""Readers of source code."""
