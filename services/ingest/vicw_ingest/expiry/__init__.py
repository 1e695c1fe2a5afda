"""Expiry: items whose ``expires_at`` has passed are retired (docs/decisions/0019)."""
