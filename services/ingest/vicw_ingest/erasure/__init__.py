"""The right to erase: what goes for good with an item, a person, a context or a tenant (docs/decisions/0029)."""
