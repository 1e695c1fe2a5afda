"""Hooks of coding agents: recall by itself, and the turns that they send."""
