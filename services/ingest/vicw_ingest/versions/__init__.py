"""Versions of items: updates, retirement, retraction, expiry, supersession, and restoring what was consolidated."""
