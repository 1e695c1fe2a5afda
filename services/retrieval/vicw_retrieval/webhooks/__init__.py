"""Webhooks: the events of a tenant, sent to addresses that it names."""
