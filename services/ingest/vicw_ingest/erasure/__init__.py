"""Erasure of items, persons, contexts and tenants, for good (docs/decisions/0029)."""
