"""Watching what is stored: the events of a tenant, as they happen."""
