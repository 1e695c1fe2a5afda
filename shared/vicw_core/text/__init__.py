"""Handling of text that several services share."""
