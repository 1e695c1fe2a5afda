"""Resolving: what is one under two names is merged where more than the names says so (docs/sleep.md)."""
