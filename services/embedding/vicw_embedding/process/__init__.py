"""A model server as a process: how it listens, and how its parent keeps it running."""
