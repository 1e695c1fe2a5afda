"""What the tools of agents write."""
