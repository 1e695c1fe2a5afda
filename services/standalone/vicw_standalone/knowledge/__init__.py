"""Sync of knowledge folders on this machine with a server."""
