"""Hooks of coding agents: recall by itself, and offloading of their transcripts."""
