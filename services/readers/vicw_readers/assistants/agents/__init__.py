"""Readers of the sessions of coding agents. `transcript` imports the standard library alone: hooks start with it."""
