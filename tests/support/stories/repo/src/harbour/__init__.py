"""Berths for ships."""
