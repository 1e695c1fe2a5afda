"""Versions of items: updates, retirement, retraction, expiry, supersession, and restoring consolidated items."""
