"""API keys: make, list and revoke them."""
