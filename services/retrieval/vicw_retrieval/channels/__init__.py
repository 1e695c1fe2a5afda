"""Channels: the ways of finding candidates."""
