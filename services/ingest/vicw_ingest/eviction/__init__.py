"""Eviction: tenants over their item limit lose the items of lowest weight (docs/decisions/0031)."""
