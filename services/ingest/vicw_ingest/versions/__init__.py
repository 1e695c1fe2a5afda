"""Versions of items: updates, retirement, retraction, supersession, and restoring consolidated items."""
