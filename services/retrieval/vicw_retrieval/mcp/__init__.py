"""What the tools of agents read."""
