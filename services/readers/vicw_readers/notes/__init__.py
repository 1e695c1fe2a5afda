"""Readers of notes."""
